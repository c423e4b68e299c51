#include "libtorch/operations/portable_dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <vector>

#include "libtorch/bridge.h"

namespace tandem::libtorch::portable {
namespace {

// libtorch has no unsigned integers of these widths. Products and sums of signed ones have the same
// bits, and a shift of unsigned bits is a signed one without the copies of the sign.
at::Scalar Signed(uint64_t bits) { return static_cast<int64_t>(bits); }
at::Scalar Signed(uint32_t bits) { return static_cast<int32_t>(bits); }

at::Tensor ShiftedRight(const at::Tensor& x, int64_t by) {
  const int64_t width = x.scalar_type() == at::kLong ? 64 : 32;
  return x.bitwise_right_shift(by).bitwise_and_((int64_t{1} << (width - by)) - 1);
}

// The result is in x's own memory.
at::Tensor XorShifted(const at::Tensor& x, int64_t by) {
  return x.bitwise_xor_(ShiftedRight(x, by));
}

// MixBits in x's own memory.
at::Tensor Mixed(const at::Tensor& x) {
  XorShifted(x, 33).mul_(Signed(uint64_t{0xFF51AFD7ED558CCD}));
  XorShifted(x, 33).mul_(Signed(uint64_t{0xC4CEB9FE1A85EC53}));
  return XorShifted(x, 33);
}

// ChannelBits below the threshold, for row keys (RowKey) int64 [...]: bool [..., width].
at::Tensor BelowThreshold(const at::Tensor& row_keys, int64_t width, double rate) {
  const int64_t pairs = (width + 31) / 32;  // of groups of 16 channels
  const at::TensorOptions options = row_keys.options().dtype(at::kInt);
  const at::Tensor words = at::arange(16 * pairs, options).mul_(Signed(tensor::kHashStep));
  const at::Tensor keys = row_keys.unsqueeze(-1);
  const at::Tensor x = words.bitwise_xor(keys.to(at::kInt));
  XorShifted(x, 16).mul_(Signed(tensor::kHashMultiplier0));
  XorShifted(x, 15)
      .add_(keys.bitwise_right_shift(32).to(at::kInt))
      .mul_(Signed(tensor::kHashMultiplier1));
  XorShifted(x, 15);
  const auto threshold = static_cast<int64_t>(tensor::KeepThreshold(rate));
  std::vector<int64_t> groups = row_keys.sizes().vec();
  groups.insert(groups.end(), {pairs, 16});
  const at::Tensor low = x.bitwise_and(0xFFFF).lt(threshold).view(groups);
  const at::Tensor high = ShiftedRight(x, 16).lt(threshold).view(groups);
  return at::stack({low, high}, -2).flatten(-3).narrow(-1, 0, width);
}

}  // namespace

at::Tensor Dropped(const at::Tensor& row_keys, int64_t width, const Dropout& dropout) {
  const at::Tensor keys = Mixed(row_keys.bitwise_xor(Signed(tensor::SiteKey(dropout))));
  return BelowThreshold(keys, width, dropout.rate);
}

at::Tensor DroppedOfHeads(const at::Tensor& row_keys, int64_t heads, int64_t width,
                          const Dropout& dropout) {
  const at::Tensor sites = at::empty({heads, 1}, at::kLong);
  for (int64_t head = 0; head < heads; ++head) {
    const uint64_t key = tensor::SiteKey(dropout, static_cast<uint32_t>(head + 1));
    sites.data_ptr<int64_t>()[head] = static_cast<int64_t>(key);
  }
  const at::Tensor keys =
      Mixed(TorchMovedTo(sites, row_keys.device()).bitwise_xor(row_keys.unsqueeze(1)));
  return BelowThreshold(keys, width, dropout.rate);
}

at::Tensor Drop(const at::Tensor& x, const at::Tensor& row_keys, const Dropout& dropout) {
  if (!dropout.active()) return x;
  return (x * double{tensor::KeepScale(dropout.rate)})
      .masked_fill(Dropped(row_keys, x.size(1), dropout), 0);
}

}  // namespace tandem::libtorch::portable
