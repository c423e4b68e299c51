#include "weights/folders/model_files.h"

#include <map>
#include <optional>
#include <utility>

#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {

// What is known of one file; each is none until it was asked for.
struct ModelFiles::File {
  std::optional<std::string> bytes;
  std::optional<Settings> settings;
  std::optional<std::vector<ListedModule>> modules;
};

struct ModelFiles::Memory {
  std::map<std::filesystem::path, File> files;  // by paths in their normal form
};

ModelFiles::ModelFiles(std::filesystem::path path, std::shared_ptr<Memory> memory)
    : path_(std::move(path)),
      memory_(memory != nullptr ? std::move(memory) : std::make_shared<Memory>()) {}

ModelFiles ModelFiles::Below(const std::filesystem::path& folder) const {
  return At(folder.empty() ? path_ : path_ / folder);
}

ModelFiles ModelFiles::At(std::filesystem::path folder) const {
  return {std::move(folder), memory_};
}

bool ModelFiles::Has(std::string_view file) const { return std::filesystem::exists(PathOf(file)); }

ModelFiles::File& ModelFiles::FileAt(std::string_view file) const {
  return memory_->files[PathOf(file).lexically_normal()];
}

const std::string& ModelFiles::Bytes(std::string_view file) const {
  File& known = FileAt(file);
  if (!known.bytes) known.bytes = ReadModelFile(PathOf(file), kMaxSettingsBytes);
  return *known.bytes;
}

const Settings& ModelFiles::Read(std::string_view file) const {
  File& known = FileAt(file);
  if (!known.settings) {
    const std::string path = PathOf(file).native();
    known.settings.emplace(path, ParseSettings(Bytes(file), path));
  }
  return *known.settings;
}

const Settings& ModelFiles::ReadIfThere(std::string_view file) const {
  File& known = FileAt(file);
  if (!known.settings && !Has(file)) {
    known.settings = Settings::ReadIfThere(PathOf(file));  // an empty object
  }
  return Read(file);
}

const std::vector<ListedModule>& ModelFiles::Modules() const {
  File& known = FileAt(kModulesFile);
  if (!known.modules) known.modules = ParseModules(Bytes(kModulesFile), PathOf(kModulesFile));
  return *known.modules;
}

const std::string* ModelFiles::FindBytes(const std::filesystem::path& path) const {
  const auto found = memory_->files.find(path.lexically_normal());
  return found == memory_->files.end() || !found->second.bytes ? nullptr : &*found->second.bytes;
}

void ModelFiles::Forget() const { memory_->files.clear(); }

}  // namespace tandem::weights
