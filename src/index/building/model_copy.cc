#include "index/building/model_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "index/folder/index_folder.h"
#include "index/segments/segment.h"

namespace tandem::index {
namespace {

// Weights of other programs (.bin, .onnx, .h5) stay where they are: nobody here reads them.
constexpr std::array<std::string_view, 6> kCopied = {".json",  ".txt", ".safetensors",
                                                     ".model", ".md",  ".vocab"};
// Folders of models for other programs.
constexpr std::array<std::string_view, 2> kSkipped = {"onnx", "openvino"};

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Paths below `model` of what is copied, in the order of bytes.
std::set<std::string> FilesOf(const std::filesystem::path& model) {
  std::set<std::string> files;
  auto entry = std::filesystem::recursive_directory_iterator(
      model, std::filesystem::directory_options::follow_directory_symlink);
  for (; entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().native();
    if (entry->is_directory()) {
      if (name.starts_with('.') || Has(kSkipped, name)) entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && Has(kCopied, entry->path().extension().native())) {
      const std::string path = entry->path().lexically_relative(model).native();
      if (IsModelPath(path)) files.insert(path);
    }
  }
  return files;
}

void CopyFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  MakeFolder(to.parent_path());
  const MappedFile bytes(from);
  WriteFileAtomically(to, bytes.bytes());
}

}  // namespace

void CopyModel(const std::filesystem::path& folder, const std::filesystem::path& model,
               Manifest* manifest, int threads) {
  const std::string name = ModelName(manifest->generation);
  const std::filesystem::path target = folder / name;
  std::error_code ignored;
  std::filesystem::remove_all(target, ignored);  // of a change that did not come to its end
  std::vector<std::string> names;
  for (const std::string& file : FilesOf(model)) {
    CopyFile(model / file, target / file);
    names.push_back(fmt::format("{}/{}", name, file));
    SyncFolder((target / file).parent_path());
  }
  manifest->model.path = name;
  manifest->model_files = DescribeFiles(folder, names, threads);
}

}  // namespace tandem::index
