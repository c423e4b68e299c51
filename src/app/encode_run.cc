// The work of `tandem encode`: texts stream through, whatever their number.
#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "app/encode_command.h"
#include "app/load_model.h"
#include "base/files.h"
#include "base/log.h"
#include "base/npy.h"
#include "data/texts_file.h"
#include "search/encode.h"
#include "search/kept_embeddings.h"

namespace tandem::app {
namespace {

// Texts of the input, their ids written as they pass. Ids stay in memory, to find one that comes
// twice.
class InputTexts {
 public:
  InputTexts(data::LineReader& reader, data::TextRole role, AtomicFile& ids)
      : reader_(reader), stream_(reader, role), ids_(ids) {}

  bool Next(std::string_view* text) {
    std::string_view id;
    if (!stream_.Next(&id, text)) return false;
    seen_.Add(reader_, id, {});
    ids_.Write(id);
    ids_.Write("\n");
    return true;
  }

 private:
  data::LineReader& reader_;
  data::TextStream stream_;
  AtomicFile& ids_;
  data::UniqueTexts seen_;  // without text
};

}  // namespace

void RunEncode(const EncodeCommandOptions& options) {
  const bool query = options.kind == "query";
  const auto kind = query ? model::TextKind::kQuery : model::TextKind::kDocument;
  const auto model = LoadModel(options.model);
  const std::filesystem::path folder = options.output;
  MakeFolder(folder);
  NpyWriter writer(folder / "embeddings.npy", static_cast<size_t>(model->embedding_width()));
  AtomicFile ids(folder / "ids.txt");
  data::Warnings warnings;  // empty texts are counted below, as what they are encoded as
  data::LineReader reader(options.input, warnings);
  InputTexts texts(reader, query ? data::TextRole::kQuery : data::TextRole::kDocument, ids);
  search::EncodeOptions bulk = BulkOptions();
  bulk.label = "encode";
  const search::EncodeCounts counts = search::EncodeStream(
      *model, kind, [&](std::string_view* text) { return texts.Next(text); }, bulk,
      [&](size_t, const at::Tensor& rows) {
        writer.Append({rows.data_ptr<float>(), static_cast<size_t>(rows.numel())});
      });
  search::ForgetKept(folder);  // the files replace embeddings that a search kept here
  writer.Commit();
  ids.Commit();
  search::ReportCounts(counts, query ? "queries" : "documents", model->max_tokens(kind));
  Note(fmt::format("{} texts, {} tokens -> {}", counts.texts, counts.tokens,
                   (folder / "embeddings.npy").native()));
}

}  // namespace tandem::app
