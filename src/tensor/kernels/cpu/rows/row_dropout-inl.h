// Dropout of a row of a tile. Included once per target by the files that need it.
#if defined(TANDEM_TENSOR_ROW_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ROW_DROPOUT_INL_H_
#undef TANDEM_TENSOR_ROW_DROPOUT_INL_H_
#else
#define TANDEM_TENSOR_ROW_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

HWY_INLINE DropoutRow RowOf(const RowDropout& dropout, size_t row) {
  if (dropout.threshold == 0) return {};
  return {RowKey(dropout.site_key, static_cast<uint64_t>(dropout.position_keys[row])),
          dropout.threshold, dropout.keep_scale};
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
