#include "tensor/precision.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tensor/isa.h"

namespace tandem::tensor {

Precision ResolvePrecision(std::string_view name) {
  const bool fast_bf16 = CurrentIsa() >= Isa::kAvx512Bf16;
  if (name == "fp32") return Precision::kFp32;
  if (name == "auto") return fast_bf16 ? Precision::kBf16 : Precision::kFp32;
  if (name == "int8") return Precision::kInt8;
  if (name != "bf16") {
    throw UsageError(fmt::format("precision is auto, fp32, bf16 or int8, not {}", name));
  }
  if (!fast_bf16) {
    throw UsageError(
        fmt::format("precision bf16 needs a processor with AVX512-BF16 or AMX and this run has {}; "
                    "use fp32, which is faster here",
                    IsaName()));
  }
  return Precision::kBf16;
}

Precision ResolveTrainingPrecision(std::string_view name) {
  if (name == "int8") {
    throw UsageError(
        "precision int8 is for encoding only, because gradients need more than eight bits; train "
        "with auto, fp32 or bf16 and encode with --precision int8");
  }
  return ResolvePrecision(name);
}

std::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kInt8:
      return "int8";
  }
  return "fp32";
}

Precision ActivationPrecision(Precision precision) {
  return precision == Precision::kInt8 ? ResolvePrecision("auto") : precision;
}

std::string_view IsaName() { return NameOf(CurrentIsa()); }

}  // namespace tandem::tensor
