#include "index/kernels/find_at_least.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kernels/find_at_least.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tandem::index::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

size_t FindAtLeastT(const float* scores, const float* limits, size_t count, uint32_t* found) {
  const hn::CappedTag<float, kFoundPadding> d;
  const hn::RebindToUnsigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0, size = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto chosen = hn::Ge(hn::LoadU(d, scores + i), hn::LoadU(d, limits + i));
    if (hn::AllFalse(d, chosen)) continue;
    const auto places = hn::Iota(di, static_cast<uint32_t>(i));
    hn::StoreU(hn::Compress(places, hn::RebindMask(di, chosen)), di, found + size);
    size += hn::CountTrue(d, chosen);
  }
  for (; i < count; ++i) {
    if (scores[i] >= limits[i]) found[size++] = static_cast<uint32_t>(i);
  }
  return size;
}

}  // namespace tandem::index::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::index {

HWY_EXPORT(FindAtLeastT);

size_t FindAtLeast(const float* scores, const float* limits, size_t count, uint32_t* found) {
  return HWY_DYNAMIC_DISPATCH(FindAtLeastT)(scores, limits, count, found);
}

}  // namespace tandem::index
#endif  // HWY_ONCE
