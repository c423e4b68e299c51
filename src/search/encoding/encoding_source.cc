#include "search/encoding/encoding_source.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/hashes/running_hash.h"
#include "base/hashes/text_hash.h"
#include "embeddings/layouts/kept.h"
#include "model/fingerprint.h"
#include "model/prompt_lengths.h"
#include "tensor/core/parallel.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/machine/device.h"
#include "tensor/machine/precision.h"

namespace tandem::search {
namespace {

// Raise it when the same version of the libraries makes other bytes of the same input.
constexpr int kRevision = 3;

uint64_t HashTexts(const model::DualEncoder& model, model::TextKind kind,
                   const data::Texts& texts) {
  RunningHash hash;
  if (!model.include_prompt(kind)) {
    model::PromptLengths lengths(model.tokenizer(kind), model.max_tokens(kind));
    hash.Add(static_cast<uint64_t>(lengths.Of(model.prompt(kind))));
  }
  std::vector<int32_t> ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    ids.clear();
    model.tokenizer(kind).Encode(model.prompt(kind) + std::string(texts.text(i)),
                                 model.max_tokens(kind), &ids);
    hash.Add(texts.id(i));
    hash.AddBytes(ids.data(), ids.size() * sizeof(int32_t));
  }
  return hash.value();
}

}  // namespace

embeddings::Provenance EncodingSource(model::DualEncoder& model, model::TextKind kind,
                                      const EncodeOptions& options) {
  // Batches, and with them the rounding, depend on the number of threads and of processes.
  const int ranks = options.group == nullptr ? 1 : options.group->ranks();
  // A device's products round otherwise, by its library.
  std::string device, device_library;
  if (!model.device().is_cpu()) {
    device = fmt::format("device cuda {}\n", options.device_batch_tokens);
    device_library = ", " + tensor::DeviceLibrary();
  }
  return embeddings::Provenance(fmt::format(
      "model {:016x}\nkind {}\ntokenizer {:016x}\nprompt {:016x}\n"
      "max_tokens {}\nbatch {} {}\nprecision {}\ninstructions {}\nthreads {}{}\n{}"
      "made by revision {}, {}{}\n",
      model::Fingerprint(model), kind == model::TextKind::kQuery ? "query" : "document",
      model.tokenizer(kind).fingerprint(),
      // Prompts of their own are the caller's to tell apart.
      options.prompt ? 0 : TextHash(model.prompt(kind)), model.max_tokens(kind),
      options.batch_tokens, options.thread_batch_tokens, tensor::PrecisionName(options.precision),
      tensor::IsaName(), tensor::ThreadCount(),
      ranks == 1 ? "" : fmt::format(" in each of {} processes", ranks), device, kRevision,
      tensor::cpu::ProductLibraryVersion(), device_library));
}

embeddings::Provenance KeptSource(model::DualEncoder& model, model::TextKind kind,
                                  const data::Texts& texts, tensor::Precision precision) {
  return embeddings::KeptProvenance(model::Fingerprint(model), HashTexts(model, kind, texts),
                                    tensor::PrecisionName(precision));
}

}  // namespace tandem::search
