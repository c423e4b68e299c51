#include "index/folder/index_info.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::index {

IndexInfo InfoOf(const std::filesystem::path& folder, const Manifest& manifest) {
  IndexInfo info{.model = manifest.model,
                 .kind = std::string(manifest.choice.kind->name),
                 .parameters = FormatParams(manifest.choice.params),
                 .fields = manifest.fields,
                 .texts = manifest.texts,
                 .min_probability = manifest.min_probability,
                 .documents = manifest.rows() - manifest.removed(),
                 .removed = manifest.removed(),
                 .segments = manifest.segments.size(),
                 .file_bytes = manifest.file_bytes()};
  if (!info.model.path.empty() && info.model.path.front() != '/') {
    info.model.path =
        (std::filesystem::absolute(folder) / info.model.path).lexically_normal().native();
  }
  for (const SegmentRecord& segment : manifest.segments) {
    const KindChoice& choice = segment.choice;
    info.resident_bytes += static_cast<uint64_t>(
        choice.kind->cost(segment.rows, manifest.model.width, choice.params).resident_bytes);
  }
  return info;
}

void CheckModel(const IndexInfo& index, const IndexModel& model) {
  const IndexModel& wanted = index.model;
  if (model.fingerprint == wanted.fingerprint && model.similarity == wanted.similarity &&
      model.width == wanted.width) {
    return;
  }
  std::string difference = "its weights, settings or tokenizer differ";
  if (model.width != wanted.width) {
    difference = fmt::format("its embeddings have {} numbers, those of the index {}", model.width,
                             wanted.width);
  } else if (model.similarity != wanted.similarity) {
    difference =
        fmt::format("it compares by {}, the index by {}", model.similarity, wanted.similarity);
  } else if (model.max_document_tokens != wanted.max_document_tokens) {
    difference =
        fmt::format("it cuts documents at {} tokens, those of the index were cut at {}",
                    model.max_document_tokens.value_or(0), wanted.max_document_tokens.value_or(0));
  } else if (model.document_prompt != wanted.document_prompt) {
    difference = fmt::format("its document prompt is \"{}\", that of the index \"{}\"",
                             model.document_prompt, wanted.document_prompt);
  }
  throw ModelError(model.path, "",
                   fmt::format("is not the model that the index was made with ({}): {}",
                               wanted.path, difference));
}

}  // namespace tandem::index
