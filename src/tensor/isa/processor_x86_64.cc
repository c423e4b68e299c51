#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "tensor/isa/processor.h"

namespace tandem::tensor {
namespace {

constexpr Isa kLevels[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kAmx};

// Tile registers are large; Linux lets a process use them only after it has asked.
bool KernelGrantsAmx() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct CpuidAnswer {
  unsigned a, b, c, d;
};
// Leaf 7 of CPUID: which instructions there are.
CpuidAnswer Features(unsigned part) {
  CpuidAnswer answer{7, 0, part, 0};
  __asm__ volatile("cpuid" : "+a"(answer.a), "=b"(answer.b), "+c"(answer.c), "=d"(answer.d));
  return answer;
}

bool CpuHasAmxBf16() {
  const unsigned d = Features(0).d;
  return (d >> 22 & 1U) != 0 && (d >> 24 & 1U) != 0;  // AMX-BF16, AMX-TILE
}

}  // namespace

std::span<const Isa> ProcessorLevels() { return kLevels; }

Isa MachineIsa() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2")) {
    throw UsageError(
        "this processor has no SSE4.2, the least that Tandem's kernels are written for");
  }
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::kBaseline;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq")) {
    return Isa::kAvx2;
  }
  if (!__builtin_cpu_supports("avx512bf16")) return Isa::kAvx512;
  return CpuHasAmxBf16() && KernelGrantsAmx() ? Isa::kAmx : Isa::kAvx512Bf16;
}

std::vector<std::string_view> MachineFeatures() {
  std::vector<std::string_view> features;
  const auto add = [&](std::string_view name, bool there) {
    if (there) features.push_back(name);
  };
  // __builtin_cpu_supports takes literals only, hence a line for each.
  __builtin_cpu_init();
  const Int8Features int8 = MachineInt8Features();
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx_vnni", int8.avx_vnni);
  add("avx512_vnni", int8.avx512_vnni);
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
  add("amx_bf16", CpuHasAmxBf16() && KernelGrantsAmx());
  add("amx_int8", int8.amx_int8);
  return features;
}

Int8Features MachineInt8Features() {
  const Isa machine = MachineIsa();
  if (machine < Isa::kAvx2) return {};
  const CpuidAnswer basic = Features(0), more = Features(1);
  const bool tiles = (basic.d >> 24 & 1U) != 0, tiles_of_bytes = (basic.d >> 25 & 1U) != 0;
  return {.avx_vnni = basic.a >= 1 && (more.a >> 4 & 1U) != 0,
          .avx512_vnni = machine >= Isa::kAvx512 && (basic.c >> 11 & 1U) != 0,
          .amx_int8 = tiles && tiles_of_bytes && KernelGrantsAmx()};
}

}  // namespace tandem::tensor
