#include "libtorch/memory_errors.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"

namespace tandem::libtorch {
namespace {

uint64_t FactorOf(std::string_view unit) {
  if (unit.starts_with(" GiB")) return uint64_t{1} << 30;
  if (unit.starts_with(" MiB")) return uint64_t{1} << 20;
  if (unit.starts_with(" KiB")) return uint64_t{1} << 10;
  return 1;
}

// libtorch has no class for a host whose memory is full: "[enforce fail at alloc_cpu.cpp:80] .
// DefaultCPUAllocator: can't allocate memory: you tried to allocate 589824 bytes. Error code 12".
bool IsFullHost(std::string_view problem) {
  return problem.find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace

uint64_t AskedFor(std::string_view problem) {
  constexpr std::string_view kBefore = "ried to allocate ";  // with "T" or "t"
  const size_t at = problem.find(kBefore);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = problem.substr(at + kBefore.size());
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return 0;
  const std::string_view unit = rest.substr(static_cast<size_t>(end - rest.data()));
  return static_cast<uint64_t>(std::llround(number * static_cast<double>(FactorOf(unit))));
}

void ThrowIfMemoryIsFull(const c10::Error& error) {
  const std::string problem = error.what_without_backtrace();
  const bool of_device = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr;
  if (of_device || IsFullHost(problem)) throw MemoryError(AskedFor(problem), of_device);
}

}  // namespace tandem::libtorch
