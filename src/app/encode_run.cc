// The work of `tandem encode`.
#include <fmt/format.h>

#include <filesystem>

#include "app/encode_command.h"
#include "app/load_model.h"
#include "app/torch_half.h"
#include "base/files.h"
#include "base/log.h"
#include "base/npy.h"
#include "data/texts_file.h"
#include "search/encode.h"
#include "search/kept_embeddings.h"

namespace tandem::app {

void RunEncode(const EncodeCommandOptions& options) {
  const bool query = options.kind == "query";
  const auto kind = query ? model::TextKind::kQuery : model::TextKind::kDocument;
  const auto model = LoadModel(options.model);
  const std::filesystem::path folder = options.output;
  MakeFolder(folder);
  std::error_code ignored;  // what `search --embeddings` kept here is about to be overwritten
  std::filesystem::remove(folder / "source.txt", ignored);
  NpyWriter writer(folder / "embeddings.npy", static_cast<size_t>(model->embedding_width()));
  data::Warnings warnings;  // empty texts are counted below, as what they are encoded as
  const data::Texts texts = data::ReadTexts(
      options.input, query ? data::TextRole::kQuery : data::TextRole::kDocument, &warnings);
  search::EncodeOptions bulk = BulkOptions();
  bulk.label = "encode";
  const search::EncodeCounts counts = search::EncodeTexts(
      *model, kind, texts.size(), [&](size_t i) { return texts.text(i); }, bulk,
      [&](size_t, const at::Tensor& rows) {
        writer.Append({rows.data_ptr<float>(), static_cast<size_t>(rows.numel())});
      });
  writer.Commit();
  search::WriteIds(folder / "ids.txt", texts);
  search::ReportCounts(counts, query ? "queries" : "documents", model->max_tokens(kind));
  Note(fmt::format("{} texts, {} tokens -> {}", counts.texts, counts.tokens,
                   (folder / "embeddings.npy").native()));
}

}  // namespace tandem::app
