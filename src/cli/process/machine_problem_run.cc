#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <string_view>

#include "cli/process/machine_problem.h"

namespace tandem::app {
namespace {

// Recognises libtorch's message that the host's memory is full, because libtorch has no class for
// it: "[enforce fail at alloc_cpu.cpp:80] . DefaultCPUAllocator: can't allocate memory: you tried
// to allocate 589824 bytes. Error code 12 ...".
std::optional<std::string> HostProblem(const std::exception& error) {
  const auto* failed = dynamic_cast<const c10::Error*>(&error);
  if (failed == nullptr) return std::nullopt;
  const std::string_view text = failed->what_without_backtrace();
  if (text.find("DefaultCPUAllocator") == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kBefore = "tried to allocate ";
  const size_t at = text.find(kBefore);
  const std::string_view asked =
      at == std::string_view::npos ? "memory" : text.substr(at + kBefore.size());
  return fmt::format(
      "out of memory: the system does not give {}; use --precision bf16, shorter texts "
      "(--max-document-tokens), in training train.chunk_tokens, a smaller train.batch or "
      "model.train = \"lora\", or give this process more (ulimit -v, ulimit -d)",
      asked.substr(0, asked.find_first_of(".\n")));
}

}  // namespace

std::optional<std::string> MachineProblem(const std::exception& error) {
  const auto* full = dynamic_cast<const c10::OutOfMemoryError*>(&error);
  if (full == nullptr) return HostProblem(error);
  const std::string text = full->what_without_backtrace();
  return fmt::format(
      "the device is out of memory: {}; use --precision bf16, shorter texts "
      "(--max-document-tokens), in training smaller train.chunk_tokens or train.batch or "
      "model.train = \"lora\", or a device that nobody else uses (nvidia-smi)",
      text.substr(0, text.find('\n')));
}

}  // namespace tandem::app
