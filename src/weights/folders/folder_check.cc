#include "weights/folders/folder_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.h"

namespace tandem::weights {
namespace {

// "BAAI/bge-small-en-v1.5": owner and name, as the Hugging Face hub spells its models.
bool LooksLikeHubName(const std::string& path) {
  const size_t slash = path.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == path.size()) return false;
  if (path.front() == '.' || path.front() == '-') return false;
  return path.find('/', slash + 1) == std::string::npos &&
         std::all_of(path.begin(), path.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
         });
}

// Tandem downloads nothing by itself: says how to.
std::string HubHint(const std::string& path) {
  if (!LooksLikeHubName(path)) return "";
  const std::string local = "models/" + path.substr(path.find('/') + 1);
  return fmt::format(
      ". If {} is a model of the Hugging Face hub, fetch it first (pip install huggingface_hub; hf "
      "download {} --local-dir {}), then give the folder {}",
      path, path, local, local);
}

}  // namespace

void CheckIsFolder(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw ModelError(path.native(), "",
                     "no such folder; a model folder was expected" + HubHint(path.native()));
  }
  if (!std::filesystem::is_directory(path)) {
    throw ModelError(path.native(), "", "is a file; a model folder was expected");
  }
}

}  // namespace tandem::weights
