#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "app/machine_problem.h"

namespace tandem::app {

std::optional<std::string> MachineProblem(const std::exception& error) {
  const auto* full = dynamic_cast<const c10::OutOfMemoryError*>(&error);
  if (full == nullptr) return std::nullopt;
  const std::string text = full->what_without_backtrace();
  return fmt::format(
      "the device is out of memory: {}; use --precision bf16, shorter texts "
      "(--max-document-tokens), in training smaller train.chunk_tokens or train.batch or "
      "model.train = \"lora\", or a device that nobody else uses (nvidia-smi)",
      text.substr(0, text.find('\n')));
}

}  // namespace tandem::app
