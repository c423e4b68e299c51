# What depends on the family of processors that is compiled for.
#   TANDEM_PROCESSOR    names the source of src/tensor/isa/ that asks the processor for its instructions
#   TANDEM_ISA_LEVELS   the levels of src/tensor/isa/isa.h that it can have, at each of which tests run
#   TANDEM_PROCESSOR_DEFINITIONS, TANDEM_PROCESSOR_OPTIONS   for every target
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(TANDEM_PROCESSOR x86_64)
  set(TANDEM_ISA_LEVELS baseline avx2 avx512 avx512_bf16 amx)
  # Kernels are compiled for SSE4, AVX2 and AVX-512. Highway would add SSE2 and SSSE3, which only processors
  # from before 2009 would take; what asks src/tensor/isa/processor_x86_64.cc refuses them.
  set(TANDEM_PROCESSOR_DEFINITIONS "HWY_BASELINE_TARGETS=HWY_SSE4")
  set(TANDEM_PROCESSOR_OPTIONS "")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(TANDEM_PROCESSOR arm64)
  set(TANDEM_ISA_LEVELS neon)
  # Kernels are compiled for NEON alone, which every such processor has. Highway would add SVE, whose
  # vectors have no size that the compiler knows and cannot be members of objects, as kernels have them.
  # Nor shall it choose at run time, which the second definition is for: it would compile kernels with
  # cryptography's instructions, and g++ then refuses constructors that it wrote itself for structs of
  # vectors.
  set(TANDEM_PROCESSOR_DEFINITIONS HWY_COMPILE_ONLY_STATIC TOOLCHAIN_MISS_SYS_AUXV_H)
  # g++ would make one instruction of a product and a sum, which rounds once where x86-64's baseline rounds
  # twice: measures, losses and orders of nearly equal scores could differ from there.
  set(TANDEM_PROCESSOR_OPTIONS -ffp-contract=off)
else()
  message(FATAL_ERROR "Tandem is written for x86-64 and arm64, not for ${CMAKE_SYSTEM_PROCESSOR}")
endif()
