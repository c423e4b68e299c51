#include "app/version.h"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/threads.h"

namespace tandem::app {
namespace {

// The features of this processor that the kernels choose by. __builtin_cpu_supports takes literals
// only, hence a line for each.
std::string CpuFeatures() {
  __builtin_cpu_init();
  std::string features;
  const auto add = [&](std::string_view name, bool there) {
    if (there) features.append(features.empty() ? "" : " ").append(name);
  };
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx512_vnni", __builtin_cpu_supports("avx512vnni"));
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
  return features.empty() ? "none of those that the kernels use" : features;
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
      "tandem {}\nbuilt with g++ {}, fmt {}.{}.{}, CLI11 {}, nlohmann-json {}.{}.{}, "
      "{}\nprocessor: "
      "{} ({}), {} threads",
      TANDEM_VERSION, __VERSION__, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      CLI11_VERSION, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH, TANDEM_TENSOR_LIBRARIES, CpuName(), CpuFeatures(),
      UsableThreads());
}

}  // namespace tandem::app
