#include "cli/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Version.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "back_end/library_file.h"
#include "back_end/load.h"
#include "base/process/threads.h"
#include "tensor/isa/isa.h"

namespace tandem::app {
namespace {

std::string FeaturesText() {
  const std::vector<std::string_view> features = tensor::MachineFeatures();
  return features.empty() ? "none of the features that kernels use"
                          : fmt::format("{}", fmt::join(features, " "));
}

// Describes the instructions that this process would use, as TANDEM_ISA allows.
std::string KernelsText() {
  const tensor::Isa isa = tensor::CurrentIsa();
  const std::string_view bf16 = tensor::Bf16Instructions(isa);
  return fmt::format("{}{}; bf16 {}, int8 by {}", tensor::NameOf(isa),
                     tensor::IsaIsGiven() ? " (TANDEM_ISA)" : "",
                     bf16.empty() ? "is not offered" : fmt::format("by {}", bf16),
                     tensor::Int8Instructions(isa, tensor::MachineInt8Features()));
}

// Linux knows the name of a processor of x86-64, and of arm64 the numbers of its maker and its
// kind.
std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  std::string maker;
  for (std::string line; std::getline(file, line);) {
    const std::string value = line.substr(std::min(line.size(), line.find(':') + 2));
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) maker = value;
    if (line.starts_with("CPU part")) return fmt::format("implementer {}, part {}", maker, value);
  }
  return "unknown";
}

std::string BackEndText() {
  using Kind = back_end::LibraryFile::Kind;
  const std::optional<std::filesystem::path> plug_in = back_end::FindPlugIn();
  if (!plug_in.has_value()) return "none (libtandem-torch.so)";
  const back_end::LibraryFile file = back_end::LookAtLibrary(*plug_in);
  switch (file.kind) {
    case Kind::kNotThere:
      return plug_in->native() + ", which is not there";
    case Kind::kNoLibrary:
      return plug_in->native() + ", which is no shared library";
    case Kind::kCutShort:
      return fmt::format("{}, which is cut short ({} of {} bytes)", plug_in->native(), file.bytes,
                         file.whole_bytes);
    case Kind::kLibrary:
      break;
  }
  return plug_in->native();
}

}  // namespace

std::string Version() { return TANDEM_VERSION; }

std::string VersionText() {
  return fmt::format(
      "tandem {}\nbuilt with g++ {}, fmt {}.{}.{}, CLI11 {}, simdjson {}, oneDNN {}\n"
      "back end for GPUs and several processes: {}\n"
      "processor: {} ({}), {} threads\nkernels: {}",
      TANDEM_VERSION, __VERSION__, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      CLI11_VERSION, TANDEM_SIMDJSON_VERSION, TANDEM_ONEDNN_VERSION, BackEndText(), CpuName(),
      FeaturesText(), UsableThreads(), KernelsText());
}

}  // namespace tandem::app
