#include "search/embeddings/encoding_source.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "base/hashes/text_hash.h"
#include "model/fingerprint.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/machine/precision.h"

namespace tandem::search {
namespace {

// Raise it when the same version of the libraries makes other bytes of the same input.
constexpr int kRevision = 1;

}  // namespace

std::string EncodingSource(model::DualEncoder& model, model::TextKind kind,
                           const EncodeOptions& options) {
  // Batches, and with them the rounding, depend on the number of threads and of processes.
  const int ranks = options.group == nullptr ? 1 : options.group->ranks();
  // A device's products round otherwise. Without one nothing is said, as it always was.
  const std::string device =
      model.device().is_cpu() ? "" : fmt::format("device cuda {}\n", options.device_batch_tokens);
  return fmt::format(
      "model {:016x}\nkind {}\ntokenizer {:016x}\nprompt {:016x}\n"
      "max_tokens {}\nbatch {} {}\nprecision {}\ninstructions {}\nthreads {}{}\n{}"
      "made by revision {}, {}, libtorch {}\n",
      model::Fingerprint(model), kind == model::TextKind::kQuery ? "query" : "document",
      model.tokenizer(kind).fingerprint(),
      // Prompts of their own are the caller's to tell apart.
      options.prompt ? 0 : TextHash(model.prompt(kind)), model.max_tokens(kind),
      options.batch_tokens, options.thread_batch_tokens, tensor::PrecisionName(options.precision),
      tensor::IsaName(), at::get_num_threads(),
      ranks == 1 ? "" : fmt::format(" in each of {} processes", ranks), device, kRevision,
      tensor::cpu::ProductLibraryVersion(), TORCH_VERSION);
}

}  // namespace tandem::search
