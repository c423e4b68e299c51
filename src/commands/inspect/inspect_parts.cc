// Inspects folders of embeddings in parts for `tandem inspect`.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json/json.h"
#include "base/progress.h"
#include "commands/inspect/inspections.h"
#include "data/texts/unique_ids.h"
#include "embeddings/layouts/parts.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// Returns the id of a row, counted over all parts.
std::string IdOf(const embeddings::EmbeddingParts& parts, uint64_t wanted, int threads) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const embeddings::PartRecord& record = parts.records()[i];
    if (wanted >= record.first_row + record.rows) continue;
    std::string found;
    parts.Open(i, threads).ForEachId([&](uint64_t row, std::string_view id) {
      if (row == wanted) found = id;
    });
    return found;
  }
  return "";
}

std::string PlaceOf(const embeddings::EmbeddingParts& parts, uint64_t row) {
  for (const embeddings::PartRecord& record : parts.records()) {
    if (row >= record.first_row + record.rows) continue;
    return fmt::format("{}:{}", record.ids.name, row - record.first_row + 1);
  }
  return "";
}

[[noreturn]] void ThrowTwice(const embeddings::EmbeddingParts& parts, uint64_t first,
                             uint64_t second, int threads) {
  throw DataError(parts.folder().native(), 0, IdOf(parts, second, threads),
                  fmt::format("has an id twice: {} and {}. Encode an input in which none is",
                              PlaceOf(parts, first), PlaceOf(parts, second)));
}

}  // namespace

Json InspectParts(const fs::path& path) {
  const embeddings::EmbeddingParts parts(path);
  const embeddings::PartRecord& first = parts.records().front();
  Json found = {{"kind", "embedding_parts"},      {"texts", parts.rows()},
                {"width", parts.width()},         {"shards", parts.size()},
                {"similarity", first.similarity}, {"prompt", first.prompt}};
  for (const char* key : {"kind", "model", "max_tokens", "precision"}) {
    found["encoded_with"][key] = first.provenance.Of(key);
  }
  for (const embeddings::PartRecord& record : parts.records()) {
    found["parts"].push_back(
        {{"name", record.shard.Name()}, {"first_row", record.first_row}, {"rows", record.rows}});
  }
  return found;
}

void VerifyParts(const fs::path& path, int threads) {
  if (!embeddings::EmbeddingParts::AreIn(path)) {
    throw UsageError(
        fmt::format("{}: --verify is for folders of embeddings in parts (tandem encode --shard)",
                    path.native()));
  }
  const embeddings::EmbeddingParts parts(path);
  Progress progress({.label = "verify", .unit = "embeddings", .total = parts.rows()});
  data::UniqueIds ids(fs::temp_directory_path());
  for (size_t i = 0; i < parts.size(); ++i) {
    const embeddings::EmbeddingPart part = parts.Open(i, threads);
    part.ForEachId([&](uint64_t row, std::string_view id) {
      if (const auto earlier = ids.Add(id, row)) ThrowTwice(parts, *earlier, row, threads);
    });
    progress.Update(part.record().first_row + part.record().rows);
  }
  if (const auto repeated = ids.FindRepeated()) {
    ThrowTwice(parts, repeated->first, repeated->second, threads);
  }
}

}  // namespace tandem::app
