// The weights of a folder as one name space: `model.safetensors`, or the shards that
// `model.safetensors.index.json` lists.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weights/safetensors/safetensors.h"

namespace tandem::weights {

class WeightFiles {
 public:
  // Opens `folder`'s weights; a single file wins over an index, as in transformers, and an index
  // only lists the files, whose own headers say where each tensor is. Throws ModelError when there
  // are none, when only a pickle (`pytorch_model.bin`) is there, and when the index names a file
  // that is missing or outside the folder, or two files have a tensor of one name.
  explicit WeightFiles(const std::filesystem::path& folder);
  WeightFiles(const WeightFiles&) = delete;
  WeightFiles& operator=(const WeightFiles&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  // All tensors of all shards, shards by name, tensors in the order of their bytes.
  std::span<const TensorView* const> tensors() const { return tensors_; }
  // Returns null when there is none of that name.
  const TensorView* Find(std::string_view name) const;
  // The file a tensor is in (for messages); the folder for a name that is not there.
  const std::filesystem::path& FileOf(std::string_view name) const;
  // Gives the pages of all files back (SafetensorsFile::ReleasePages).
  void ReleasePages() const {
    for (const SafetensorsFile& file : files_) file.ReleasePages();
  }
  // "__metadata__" of the first file.
  const std::map<std::string, std::string>& metadata() const { return files_.front().metadata(); }

 private:
  std::filesystem::path folder_;
  std::vector<SafetensorsFile> files_;
  std::vector<const TensorView*> tensors_;
  struct Place {
    const TensorView* tensor;
    const SafetensorsFile* file;
  };
  std::unordered_map<std::string, Place> index_;
  void OpenShards(const std::filesystem::path& index);
};

}  // namespace tandem::weights
