#include "index/building/index_model.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "model/fingerprint.h"

namespace tandem::index {

std::string NameOfModel(const std::filesystem::path& folder) {
  std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  const std::string name = path.filename().native(), parent = path.parent_path().filename();
  return name == "model" && !parent.empty() ? parent + "/" + name : name;
}

IndexModel DescribeModel(model::DualEncoder& model, const std::filesystem::path& path,
                         tensor::Precision precision, std::optional<int64_t> dimensions) {
  constexpr auto kDocument = model::TextKind::kDocument;
  RunningHash hash;
  hash.Add(model::Fingerprint(model));
  hash.Add(model.tokenizer(kDocument).fingerprint());
  hash.Add(std::string_view(model.prompt(kDocument)));
  hash.Add(uint64_t{model.max_tokens(kDocument)});
  return {.path = std::filesystem::absolute(path).lexically_normal().native(),
          .name = NameOfModel(path),
          .fingerprint = hash.value(),
          .similarity = model.similarity(),
          .width = static_cast<size_t>(model.embedding_width()),
          .precision = std::string(tensor::PrecisionName(precision)),
          .document_prompt = model.prompt(kDocument),
          .max_document_tokens = model.max_tokens(kDocument),
          .dimensions = dimensions};
}

model::LoadOptions LoadOptionsOf(const IndexModel& model) {
  // Frozen weights keep the type of their file, which counts for the fingerprint.
  return {.max_document_tokens = model.max_document_tokens,
          .document_prompt = model.document_prompt,
          .dimensions = model.dimensions,
          .training = {.what = model::Trained::kNothing}};
}

std::unique_ptr<model::DualEncoder> LoadIndexModel(const IndexInfo& index,
                                                   const model::LoadOptions& options,
                                                   const std::filesystem::path& folder) {
  const std::filesystem::path path =
      folder.empty() ? std::filesystem::path(index.model.path) : folder;
  if (!std::filesystem::is_directory(path)) {
    throw ModelError(path.native(), "",
                     folder.empty() ? "is where the index's model was, and is no folder now; name "
                                      "the folder that it has moved to with --model"
                                    : "is no model folder");
  }
  std::unique_ptr<model::DualEncoder> model = model::DualEncoder::Load(path, options);
  const IndexModel found =
      DescribeModel(*model, path, tensor::Precision::kFp32, index.model.dimensions);
  CheckModel(index, found);
  return model;
}

}  // namespace tandem::index
