// Decides what a path holds, and which file shows it.
#include "commands/inspect/inspection.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"
#include "commands/inspect/inspections.h"
#include "data/folder_files.h"
#include "data/read_dataset.h"
#include "embeddings/layouts/parts.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

using Inspector = Json (*)(const fs::path& path);

// A kind of file, which is recognised by the end of the file's name.
struct FileKind {
  std::string_view ending;
  Inspector inspect;  // null: InspectFile calls a function that needs more than the path
};
constexpr FileKind kFileKinds[] = {
    {".safetensors", InspectSafetensors},
    {".npy", InspectNpy},
    {".embeddings", InspectCachedFile},
    {".jsonl", nullptr},  // InspectJsonLines, which needs rules
    {".jsonl.gz", nullptr},
    {".csv", nullptr},  // InspectTrainingTable, which needs rules
    {".csv.gz", nullptr},
    {".trec", nullptr},  // InspectTrecRun, which needs threads
    {".run", nullptr},
    {".tsv", InspectJudgements},  // or InspectTrainingTable, by its first line
    {".tsv.gz", InspectJudgements},
    {".qrels", InspectJudgements},
};

// A kind of folder, which is recognised by a file or folder in it; the first entry that fits
// counts.
struct FolderKind {
  std::string_view holds;
  Inspector inspect;
};
constexpr FolderKind kFolderKinds[] = {
    {"recipe.resolved.toml", InspectTrainingRun},
    {"metrics.jsonl", InspectTrainingRun},
    {"index.json", InspectIndex},
    {"adapter_config.json", InspectAdapter},
    {"modules.json", InspectModel},
    {"tandem.json", InspectModel},
    {"config.json", InspectModel},
    {"state.json", InspectCheckpoint},
    {"query/adapter_config.json", InspectTowerAdapters},
    {"corpus.jsonl", InspectBeir},
    {"corpus.jsonl.gz", InspectBeir},
    {"queries.jsonl", InspectBeir},
    {"queries.jsonl.gz", InspectBeir},
    {"embeddings.npy", InspectEmbeddings},
};

// Whether the file is a log of the run in its folder.
bool IsLogOfRun(const fs::path& path) {
  const fs::path name = path.filename();
  return (name == "metrics.jsonl" || name == "timing.jsonl") &&
         fs::exists(path.parent_path() / "metrics.jsonl");
}

// Refuses rules for a path without training lines.
void CheckHasLines(const fs::path& path, const data::LineRules& rules) {
  if (rules.empty()) return;
  throw UsageError(
      fmt::format("--labels, --ignore-columns and --ids say what training lines mean, but {} holds "
                  "none",
                  path.native()));
}

Json InspectFile(const fs::path& path, const data::LineRules& rules, int threads) {
  if (IsLogOfRun(path)) return InspectTrainingRun(path.parent_path());
  const std::string name = path.filename().native();
  std::string endings;
  for (const FileKind& kind : kFileKinds) {
    if (name.ends_with(kind.ending)) {
      if (kind.ending.starts_with(".jsonl")) return InspectJsonLines(path, rules);
      if (HoldsTrainingTable(path)) return InspectTrainingTable(path, rules);
      CheckHasLines(path, rules);
      return kind.inspect == nullptr ? InspectTrecRun(path, threads) : kind.inspect(path);
    }
    endings += fmt::format("{}{}", endings.empty() ? "" : ", ", kind.ending);
  }
  if (fs::exists(path)) {
    data::RefuseParquet(path);
    throw UsageError(
        fmt::format("{}: the ending does not tell what the file holds; known endings are {}",
                    path.native(), endings));
  }
  throw UsageError(fmt::format("{}: there is no such file or folder", path.native()));
}

}  // namespace

Json Inspect(const fs::path& path, const data::LineRules& rules, int threads) {
  if (!fs::is_directory(path)) return InspectFile(path, rules, threads);
  for (const FolderKind& kind : kFolderKinds) {
    if (fs::exists(path / kind.holds)) return kind.inspect(path);
  }
  if (embeddings::EmbeddingParts::AreIn(path)) return InspectParts(path);
  if (IsCache(path)) return InspectCache(path);
  if (HoldsSeedRuns(path)) return InspectSeedRuns(path);
  throw UsageError(
      fmt::format("{}: nothing in this folder tells what it is; known are models (modules.json or "
                  "config.json), adapters (adapter_config.json), training runs "
                  "(recipe.resolved.toml) and runs of several seeds (seed-N), checkpoints "
                  "(state.json), BEIR data "
                  "sets (corpus.jsonl and queries.jsonl), indexes (index.json), the cache (files "
                  "named .embeddings) and embeddings "
                  "(embeddings.npy, or parts of "
                  "`tandem encode --shard`){}",
                  path.native(), data::FilesInstead(path)));
}

}  // namespace tandem::app
