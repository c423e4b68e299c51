#include "cli/process/memory_problem.h"

#include <fmt/format.h>

namespace tandem::app {

std::string MemoryProblem(const MemoryError& error) {
  if (error.of_device()) {
    return fmt::format(
        "{}; use --precision bf16, shorter texts (--max-document-tokens), in training smaller "
        "train.chunk_tokens or train.batch or model.train = \"lora\", or a device that nobody else "
        "uses (nvidia-smi)",
        error.what());
  }
  return fmt::format(
      "{}; use --precision bf16, shorter texts (--max-document-tokens), in training "
      "train.chunk_tokens, a smaller train.batch or model.train = \"lora\", or give this process "
      "more (ulimit -v, ulimit -d)",
      error.what());
}

}  // namespace tandem::app
