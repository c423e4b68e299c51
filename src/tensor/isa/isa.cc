#include "tensor/isa/isa.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"

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

// Returns null where it says nothing.
const char* GivenIsa() {
  const char* given = std::getenv("TANDEM_ISA");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr || *given == '\0' ? nullptr : given;
}

Isa WantedIsa() {
  const Isa machine = MachineIsa();
  const char* wanted = GivenIsa();
  if (wanted == nullptr) return machine;
  for (const Isa level : kLevels) {
    if (NameOf(level) != wanted) continue;
    if (level > machine) {
      throw UsageError(fmt::format(
          "TANDEM_ISA={} asks for more than this machine has ({}); unset it or name a lower level",
          wanted, NameOf(machine)));
    }
    return level;
  }
  throw UsageError(
      fmt::format("TANDEM_ISA is baseline, avx2, avx512, avx512_bf16 or amx, not {}", wanted));
}

}  // namespace

Isa CurrentIsa() {
  static const Isa isa = WantedIsa();
  return isa;
}

bool IsaIsGiven() { return GivenIsa() != nullptr; }

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

std::string_view Bf16Instructions(Isa isa) {
  if (isa == Isa::kAmx) return "AMX-BF16";
  return isa == Isa::kAvx512Bf16 ? "AVX512-BF16" : "";
}

std::string_view Int8Instructions(Isa isa, const Int8Features& machine) {
  if (isa == Isa::kAmx && machine.amx_int8) return "AMX-INT8";
  const bool vnni =
      isa >= Isa::kAvx512 ? machine.avx512_vnni : isa == Isa::kAvx2 && machine.avx_vnni;
  return vnni ? "VNNI" : "16-bit products";
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

std::string_view NameOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Bf16:
      return "avx512_bf16";
    case Isa::kAmx:
      return "amx";
  }
  return "baseline";
}

}  // namespace tandem::tensor
