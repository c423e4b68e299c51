// Arithmetic of matrix products, and what this processor or device can do.
#pragma once

#include <string>
#include <string_view>

#include "tensor/core/device.h"

namespace tandem::tensor {

// kFp16: activations and products in half precision, sums in float32, on CUDA devices. Training
// then scales the loss (train/step/loss_scale.h).
// kTf32: fp32 whose matrix products round both factors to 10 bits of mantissa, on CUDA devices from
// Ampere on; activations and everything between the products are float32.
// kInt8: an encoder's products with weights round both factors to eight bits
// (kernels/cpu/int8_products.h), on the CPU. Forward passes only; everything between the products
// is as in ActivationPrecision.
enum class Precision { kFp32, kBf16, kInt8, kFp16, kTf32 };

// "auto", "fp32", "bf16", "int8", "fp16" or "tf32", for computing on `device`. "auto" is bf16 where
// that is fast, from AVX512-BF16 or compute capability 8.0 on, else fp32; never another one. Throws
// UsageError for another name and for a precision that the device does not compute fast. Where
// TANDEM_FORMS=portable, fp16 and bf16 are taken on every processor, so that tests can run them.
Precision ResolvePrecision(std::string_view name, Device device = kCpuDevice);
// Resolves the precision of what has a backward pass: throws UsageError for "int8".
Precision ResolveTrainingPrecision(std::string_view name, Device device = kCpuDevice);
// Says which precision "auto" is on the device, and why: "precision fp32: this processor has no
// instructions for bf16 (AVX512-BF16 or AMX)".
std::string AutoPrecisionText(Device device = kCpuDevice);
std::string_view PrecisionName(Precision precision);  // as ResolvePrecision reads it

// The precision of activations and attention: fp32, bf16 or fp16. kInt8 has bf16 where the
// processor has fast bf16 products.
Precision ActivationPrecision(Precision precision);

// Returns the precision of products on the host's memory, such as those of a search: bf16 for
// kBf16, else fp32.
Precision HostPrecision(Precision precision);

// Lets products on CUDA devices round to TF32 where `precision` is kTf32, and nowhere else. Holds
// for the whole process. kTf32 needs the back end: UsageError where there is none.
void ApplyPrecision(Precision precision);

// "avx2", "avx512", "avx512_bf16" or "amx": the highest level of this processor, or the lower one
// that TANDEM_ISA asks for.
std::string_view IsaName();

}  // namespace tandem::tensor
