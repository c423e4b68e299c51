#include "weights/safetensors/weight_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
// Names of weights as older tools wrote them: pickles, which can run code; Tandem never loads them.
constexpr const char* kPickles[] = {"pytorch_model.bin", "pytorch_model.bin.index.json",
                                    "pytorch_model.pt", "model.pt"};

[[noreturn]] void ThrowNoWeights(const std::filesystem::path& folder) {
  for (const char* pickle : kPickles) {
    if (!std::filesystem::exists(folder / pickle)) continue;
    throw ModelError(
        (folder / pickle).native(), "",
        "the weights are there only as a pickle, which can run code and is never loaded; convert "
        "them: load the model in Python and save_pretrained(folder, safe_serialization=True)");
  }
  throw ModelError(
      folder.native(), "",
      fmt::format("has no weights: neither {} nor {} is there", kSingleFile, kIndexFile));
}

// Refuses anything but a plain name, so that no shard lies outside the folder.
bool IsFileName(const Json& value) {
  if (!value.is_string()) return false;
  const auto& name = value.text();
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

// The files that an index's weight_map names.
std::set<std::string> ShardNames(const Json& map, const std::filesystem::path& index) {
  std::set<std::string> names;
  for (const auto& [tensor, file] : map.items()) {
    if (!IsFileName(file)) {
      throw ModelError(index.native(), tensor,
                       "the shard must be the name of a file in the folder");
    }
    names.insert(file.get<std::string>());
  }
  return names;
}

// The files' own headers say which tensors they hold, as in transformers; the index only lists the
// files. Warns where it names tensors that none of them has: one that the encoder needs is an error
// later on.
void WarnOfMissing(std::span<const SafetensorsFile> files, const Json& map,
                   const std::filesystem::path& index) {
  size_t missing = 0;
  std::string first;
  for (const auto& [tensor, file] : map.items()) {
    const bool there = std::any_of(
        files.begin(), files.end(),
        [&name = tensor](const SafetensorsFile& shard) { return shard.Find(name) != nullptr; });
    if (there) continue;
    if (missing++ == 0) first = fmt::format("{} in {}", tensor, file.get<std::string>());
  }
  if (missing == 0) return;
  Warn(fmt::format("{}: names {} tensor{} that no file has, the first {}", index.native(), missing,
                   missing == 1 ? "" : "s", first));
}

}  // namespace

WeightFiles::WeightFiles(const std::filesystem::path& folder) : folder_(folder) {
  if (std::filesystem::exists(folder / kSingleFile)) {
    files_.emplace_back(folder / kSingleFile);
  } else if (std::filesystem::exists(folder / kIndexFile)) {
    OpenShards(folder / kIndexFile);
  } else {
    ThrowNoWeights(folder);
  }
  for (const SafetensorsFile& file : files_) {
    for (const TensorView& tensor : file.tensors()) {
      if (!index_.emplace(tensor.name, Place{&tensor, &file}).second) {
        throw ModelError(file.path().native(), tensor.name, "another shard has it too");
      }
      tensors_.push_back(&tensor);
    }
  }
}

void WeightFiles::OpenShards(const std::filesystem::path& index) {
  const Settings settings = Settings::Read(index);
  const Json* map = settings.Find("weight_map");
  if (map == nullptr || !map->is_object() || map->empty()) {
    settings.Fail("weight_map", "an object of tensor names and file names");
  }
  const std::set<std::string> names = ShardNames(*map, index);
  files_.reserve(names.size());
  for (const std::string& name : names) {
    if (!std::filesystem::exists(folder_ / name)) {
      throw ModelError((folder_ / name).native(), "",
                       fmt::format("is missing; {} names it as one of {} files with weights. Fetch "
                                   "or copy it beside the others",
                                   index.filename().native(), names.size()));
    }
    files_.emplace_back(folder_ / name);
  }
  WarnOfMissing(files_, *map, index);
}

const TensorView* WeightFiles::Find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : found->second.tensor;
}

const std::filesystem::path& WeightFiles::FileOf(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? folder_ : found->second.file->path();
}

}  // namespace tandem::weights
