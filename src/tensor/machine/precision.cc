#include "tensor/machine/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/device.h"
#include "tensor/machine/device_driver.h"

namespace tandem::tensor {
namespace {

constexpr struct {
  std::string_view name;
  Precision precision;
} kNames[] = {{"fp32", Precision::kFp32},
              {"bf16", Precision::kBf16},
              {"int8", Precision::kInt8},
              {"fp16", Precision::kFp16},
              {"tf32", Precision::kTf32}};

bool HasFastBf16(Device device) {
  return device.is_cuda() ? ComputeCapability(device) >= 8 : CurrentIsa() >= Isa::kAvx512Bf16;
}

void CheckOnCpu(Precision precision) {
  if (DeviceFormsForced() && precision != Precision::kTf32) return;
  if (precision == Precision::kBf16 && CurrentIsa() < Isa::kAvx512Bf16) {
    throw UsageError(
        fmt::format("precision bf16 needs a processor with AVX512-BF16 or AMX and this run has {}; "
                    "use fp32, which is faster here",
                    IsaName()));
  }
  if (precision == Precision::kFp16 || precision == Precision::kTf32) {
    throw UsageError(fmt::format(
        "precision {} is for CUDA devices, and this run computes on the processor; use auto, fp32 "
        "or bf16, or --device cuda",
        PrecisionName(precision)));
  }
}

void CheckOnCuda(Precision precision, Device device) {
  if (precision == Precision::kInt8) {
    throw UsageError(fmt::format(
        "precision int8 is for the processor, and this run computes on {}; use auto, fp32, tf32, "
        "bf16 or fp16 there",
        DeviceName(device)));
  }
  const bool since_ampere = precision == Precision::kBf16 || precision == Precision::kTf32;
  if (since_ampere && ComputeCapability(device) < 8) {
    throw UsageError(
        fmt::format("precision {} needs a device of compute capability 8.0 or more, and {} has "
                    "{}.x; use fp32 or fp16",
                    PrecisionName(precision), DeviceName(device), ComputeCapability(device)));
  }
}

}  // namespace

Precision ResolvePrecision(std::string_view name, Device device) {
  if (name == "auto") return HasFastBf16(device) ? Precision::kBf16 : Precision::kFp32;
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [name](const auto& entry) { return entry.name == name; });
  if (found == std::end(kNames)) {
    throw UsageError(
        fmt::format("precision is auto, fp32, bf16, int8, fp16 or tf32, not {}", name));
  }
  device.is_cuda() ? CheckOnCuda(found->precision, device) : CheckOnCpu(found->precision);
  return found->precision;
}

Precision ResolveTrainingPrecision(std::string_view name, Device device) {
  if (name == "int8") {
    throw UsageError(
        "precision int8 is for encoding only, because gradients need more than eight bits; train "
        "with auto, fp32 or bf16 and encode with --precision int8");
  }
  return ResolvePrecision(name, device);
}

std::string AutoPrecisionText(Device device) {
  const bool bf16 = HasFastBf16(device);
  if (device.is_cuda()) {
    return fmt::format("precision {}: {} has compute capability {}.x, and from 8.0 on bf16 is fast",
                       bf16 ? "bf16" : "fp32", DeviceName(device), ComputeCapability(device));
  }
  if (bf16) {
    return fmt::format("precision bf16: this processor multiplies in it ({}), faster than in fp32",
                       Bf16Instructions(CurrentIsa()));
  }
  if (IsaIsGiven()) {
    return fmt::format(
        "precision fp32: TANDEM_ISA={} leaves out instructions for bf16 (AVX512-BF16 or AMX)",
        IsaName());
  }
  return "precision fp32: this processor has no instructions for bf16 (AVX512-BF16 or AMX)";
}

std::string_view PrecisionName(Precision precision) {
  return std::find_if(std::begin(kNames), std::end(kNames),
                      [precision](const auto& entry) { return entry.precision == precision; })
      ->name;
}

Precision ActivationPrecision(Precision precision) {
  switch (precision) {
    case Precision::kInt8:
      return ResolvePrecision("auto");
    case Precision::kTf32:
      return Precision::kFp32;
    case Precision::kFp32:
    case Precision::kBf16:
    case Precision::kFp16:
      break;
  }
  return precision;
}

Precision HostPrecision(Precision precision) {
  return precision == Precision::kBf16 && CurrentIsa() >= Isa::kAvx512Bf16 ? Precision::kBf16
                                                                           : Precision::kFp32;
}

void ApplyPrecision(Precision precision) {
  const bool allowed = precision == Precision::kTf32;
  const DeviceDriver* driver = allowed ? &BackEndDriver() : LoadedBackEndDriver();
  if (driver != nullptr) driver->AllowTf32(allowed);
}

std::string_view IsaName() { return NameOf(CurrentIsa()); }

}  // namespace tandem::tensor
