#include "tune/search_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/files/files.h"
#include "base/hashes/running_hash.h"
#include "weights/folders/folder_check.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "data";
constexpr const char* kBase = "base";
constexpr const char* kAdapter = "adapter";

std::string HashOf(const fs::path& folder, const std::vector<fs::path>& files) {
  RunningHash hash;
  for (const fs::path& file : files) {
    hash.Add(file.native());
    const MappedFile mapped(folder / file);
    hash.Add(mapped.bytes());
  }
  return fmt::format("{:016x}", hash.value());
}

// A README changes no model.
std::string HashOfModel(const fs::path& folder) {
  weights::CheckIsFolder(folder);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path kind = entry.path().extension();
    const bool read =
        kind == ".safetensors" || kind == ".json" || kind == ".txt" || kind == ".model";
    if (entry.is_regular_file() && read) files.push_back(entry.path().lexically_relative(folder));
  }
  std::sort(files.begin(), files.end());
  return HashOf(folder, files);
}

std::string HashOfJudged(const fs::path& folder, const std::string& split) {
  std::vector<fs::path> files;
  for (const fs::path& file : {fs::path("corpus.jsonl"), fs::path("queries.jsonl"),
                               fs::path("qrels") / (split + ".tsv")}) {
    if (fs::exists(folder / file)) files.push_back(file);
  }
  return HashOf(folder, files);
}

}  // namespace

Json HashInputs(const config::LoadedTune& tune, const train::ModelMeasurer& measurer) {
  Json hashes = {{kData, fmt::format("{:016x}", measurer.data().fingerprint)},
                 {kBase, HashOfModel(tune.recipe.recipe.model.base)}};
  if (const auto& adapter = tune.recipe.recipe.model.adapter) {
    hashes[kAdapter] = HashOfModel(*adapter);
  }
  for (const std::string& folder : tune.tune.keep) {
    hashes[folder] = HashOfJudged(folder, tune.tune.keep_split);
  }
  if (tune.tune.test) hashes[*tune.tune.test] = HashOfJudged(*tune.tune.test, tune.tune.test_split);
  return hashes;
}

std::string DifferentInputs(const Json* before, const Json& now) {
  std::string different;
  if (before == nullptr) return different;
  for (const JsonMember& member : now.items()) {
    const Json* const old = before->Find(member.key);
    if (old != nullptr && old->text() == member.value.text()) continue;
    const std::string name = member.key == kData      ? "the training or validation data"
                             : member.key == kBase    ? "the base model"
                             : member.key == kAdapter ? "the adapter"
                                                      : member.key;
    different += (different.empty() ? "" : ", ") + name;
  }
  return different;
}

}  // namespace tandem::tune
