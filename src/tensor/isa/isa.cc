#include "tensor/isa/isa.h"

#include <fmt/format.h>

#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/isa/processor.h"

namespace tandem::tensor {
namespace {

// Returns null where it says nothing.
const char* GivenIsa() {
  const char* given = std::getenv("TANDEM_ISA");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr || *given == '\0' ? nullptr : given;
}

// "baseline, avx2, avx512, avx512_bf16 or amx".
std::string LevelNames() {
  std::string names;
  const std::span<const Isa> levels = ProcessorLevels();
  for (size_t i = 0; i < levels.size(); ++i) {
    const bool last = i + 1 == levels.size();
    names += fmt::format("{}{}", i == 0 ? "" : last ? " or " : ", ", NameOf(levels[i]));
  }
  return names;
}

Isa WantedIsa() {
  const Isa machine = MachineIsa();
  const char* wanted = GivenIsa();
  if (wanted == nullptr) return machine;
  for (const Isa level : ProcessorLevels()) {
    if (NameOf(level) != wanted) continue;
    if (level > machine) {
      throw UsageError(fmt::format(
          "TANDEM_ISA={} asks for more than this machine has ({}); unset it or name a lower level",
          wanted, NameOf(machine)));
    }
    return level;
  }
  throw UsageError(fmt::format("TANDEM_ISA is {}, not {}", LevelNames(), wanted));
}

}  // namespace

Isa CurrentIsa() {
  static const Isa isa = WantedIsa();
  return isa;
}

bool IsaIsGiven() { return GivenIsa() != nullptr; }

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

std::string_view NameOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kNeon:
      return "neon";
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
