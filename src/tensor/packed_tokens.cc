#include "tensor/packed_tokens.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "tensor/dropout.h"
#include "tensor/machine/device.h"
#include "tensor/portable/length_classes.h"

namespace tandem::tensor {
namespace {

constexpr int32_t kStandIn = 0;  // every vocabulary has it

}  // namespace

struct PackedTokens::LazyClasses {
  std::once_flag once;
  std::shared_ptr<const LengthClasses> classes;
};

std::shared_ptr<const LengthClasses> PackedTokens::length_classes() const {
  const auto make = [&] {
    return std::make_shared<const LengthClasses>(sequence_starts.cpu(), sequence_starts.device());
  };
  if (!lazy_classes) return make();
  std::call_once(lazy_classes->once, [&] { lazy_classes->classes = make(); });
  return lazy_classes->classes;
}

PackedTokens PackedTokens::To(at::Device device) const {
  if (ids.device() == device) return *this;
  PackedTokens moved = *this;
  for (at::Tensor PackedTokens::*part :
       {&PackedTokens::ids, &PackedTokens::positions, &PackedTokens::types,
        &PackedTokens::sequence_starts, &PackedTokens::text_keys, &PackedTokens::row_keys,
        &PackedTokens::prompt_tokens, &PackedTokens::stand_ins}) {
    moved.*part = MovedTo(this->*part, device);
  }
  moved.lazy_classes = std::make_shared<LazyClasses>();
  std::call_once(moved.lazy_classes->once, [&] {
    moved.lazy_classes->classes =
        std::make_shared<const LengthClasses>(sequence_starts.cpu(), device);
  });
  return moved;
}

PackedTokens Pack(std::span<const std::span<const int32_t>> texts,
                  std::span<const int64_t> text_keys, std::span<const int32_t> prompt_tokens) {
  size_t tokens = 0, without = 0;
  for (const std::span<const int32_t> text : texts) {
    tokens += std::max<size_t>(1, text.size());
    without += text.empty() ? 1 : 0;
  }
  if (tokens > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw UsageError(
        fmt::format("a batch of {} tokens is too large; take smaller batches", tokens));
  }
  PackedTokens packed;
  packed.lazy_classes = std::make_shared<PackedTokens::LazyClasses>();
  const auto total = static_cast<int64_t>(tokens), count = static_cast<int64_t>(texts.size());
  packed.ids = at::empty({total}, at::kInt);
  packed.positions = at::empty({total}, at::kInt);
  packed.sequence_starts = at::empty({count + 1}, at::kInt);
  packed.text_keys = at::empty({count}, at::kLong);
  packed.row_keys = at::empty({total}, at::kLong);
  auto* ids = packed.ids.data_ptr<int32_t>();
  auto* positions = packed.positions.data_ptr<int32_t>();
  auto* starts = packed.sequence_starts.data_ptr<int32_t>();
  auto* keys = packed.text_keys.data_ptr<int64_t>();
  auto* row_keys = packed.row_keys.data_ptr<int64_t>();
  int32_t row = 0;
  for (size_t b = 0; b < texts.size(); ++b) {
    starts[b] = row;
    keys[b] = text_keys.empty() ? static_cast<int64_t>(b) : text_keys[b];
    const std::span<const int32_t> text = texts[b].empty() ? std::span(&kStandIn, 1) : texts[b];
    for (size_t p = 0; p < text.size(); ++p, ++row) {
      ids[row] = text[p];
      positions[row] = static_cast<int32_t>(p);
      row_keys[row] = static_cast<int64_t>(PositionKey(static_cast<uint64_t>(keys[b]), p));
    }
    packed.longest = std::max(packed.longest, static_cast<int64_t>(text.size()));
  }
  starts[texts.size()] = row;
  if (without > 0) {
    packed.stand_ins = at::empty({count}, at::kInt);
    std::transform(texts.begin(), texts.end(), packed.stand_ins.data_ptr<int32_t>(),
                   [](std::span<const int32_t> text) { return text.empty() ? 1 : 0; });
  }
  if (!prompt_tokens.empty()) {
    packed.prompt_tokens = at::empty({count}, at::kInt);
    std::copy_n(prompt_tokens.begin(), texts.size(), packed.prompt_tokens.data_ptr<int32_t>());
  }
  return packed;
}

}  // namespace tandem::tensor
