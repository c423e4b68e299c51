// Calls the variant of a row kernel that fits a type and this processor.
#pragma once

#include <type_traits>

#include "tensor/isa/isa.h"

namespace tandem::tensor::cpu {

// Says whether the processor rounds to bf16 by an instruction.
inline bool RoundsNatively() { return CurrentIsa() >= Isa::kAvx512Bf16; }

// Calls KernelFloat, KernelBf16 or KernelNativeBf16, which HWY_EXPORT has exported, by the type `A`
// of the function that this is used in.
#define TANDEM_CALL_FOR_TYPE(Kernel, ...)                    \
  do {                                                       \
    if constexpr (std::is_same_v<A, float>) {                \
      HWY_DYNAMIC_DISPATCH(Kernel##Float)(__VA_ARGS__);      \
    } else if (RoundsNatively()) {                           \
      HWY_DYNAMIC_DISPATCH(Kernel##NativeBf16)(__VA_ARGS__); \
    } else {                                                 \
      HWY_DYNAMIC_DISPATCH(Kernel##Bf16)(__VA_ARGS__);       \
    }                                                        \
  } while (false)

}  // namespace tandem::tensor::cpu
