#include "tensor/precision.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tensor/isa.h"

namespace tandem::tensor {

Precision ResolvePrecision(std::string_view name) {
  const bool fast_bf16 = CurrentIsa() >= Isa::kAvx512Bf16;
  if (name == "fp32") return Precision::kFp32;
  if (name == "auto") return fast_bf16 ? Precision::kBf16 : Precision::kFp32;
  if (name != "bf16") {
    throw UsageError(fmt::format("precision is auto, fp32 or bf16, not {}", name));
  }
  if (!fast_bf16) {
    throw UsageError(
        fmt::format("precision bf16 needs a processor with AVX512-BF16 or AMX and this run has {}; "
                    "use fp32, which is faster here",
                    IsaName()));
  }
  return Precision::kBf16;
}

std::string_view PrecisionName(Precision precision) {
  return precision == Precision::kFp32 ? "fp32" : "bf16";
}

std::string_view IsaName() { return NameOf(CurrentIsa()); }

}  // namespace tandem::tensor
