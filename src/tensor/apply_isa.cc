#include <hwy/targets.h>

#include <cstdlib>
#include <string>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/products/products.h"

namespace tandem::tensor {

void ApplyIsa() {
  const Isa isa = CurrentIsa();
  if (std::getenv("TANDEM_ISA") == nullptr) return;  // NOLINT(concurrency-mt-unsafe)
  if (isa == Isa::kNeon) return;                     // there is no higher level to leave out
  cpu::LimitProductIsa(std::string(NameOf(isa)).c_str());
  if (isa < Isa::kAvx512) {
    const bool baseline = isa == Isa::kBaseline;
    // For a back end with libtorch, which reads this when it is loaded.
    ::setenv("ATEN_CPU_CAPABILITY", baseline ? "default" : "avx2",  // NOLINT(concurrency-mt-unsafe)
             1);
    // Highway's targets are bits, and a better target is a lower bit. This disables all targets
    // that are better than the wanted one.
    hwy::DisableTargets((baseline ? HWY_SSE4 : HWY_AVX2) - 1);
  }
}

}  // namespace tandem::tensor
