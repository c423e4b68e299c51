#include "cli/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Version.hpp>
#include <fstream>
#include <string_view>
#include <vector>

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

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::string Version() { return TANDEM_VERSION; }

std::string VersionText() {
  return fmt::format(
      "tandem {}\nbuilt with g++ {}, fmt {}.{}.{}, CLI11 {}, simdjson {}, {}\n"
      "processor: {} ({}), {} threads\nkernels: {}",
      TANDEM_VERSION, __VERSION__, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      CLI11_VERSION, TANDEM_SIMDJSON_VERSION, TANDEM_TENSOR_LIBRARIES, CpuName(), FeaturesText(),
      UsableThreads(), KernelsText());
}

}  // namespace tandem::app
