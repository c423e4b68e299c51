#include "weights/folders/model_files.h"

#include <map>
#include <optional>
#include <utility>

#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {

// The known content of one file; each member is none until it is asked for.
struct ModelFiles::File {
  std::optional<Json> json;
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

const Json& ModelFiles::Parsed(std::string_view file) const {
  File& known = FileAt(file);
  if (!known.json) {
    const std::filesystem::path path = PathOf(file);
    known.json = ParseSettings(ReadModelFile(path, kMaxSettingsBytes), path.native());
  }
  return *known.json;
}

const Settings& ModelFiles::Read(std::string_view file) const {
  File& known = FileAt(file);
  if (!known.settings) known.settings.emplace(PathOf(file).native(), Parsed(file));
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
  if (!known.modules) known.modules = ModulesIn(Parsed(kModulesFile), PathOf(kModulesFile));
  return *known.modules;
}

const Json* ModelFiles::Find(const std::filesystem::path& path) const {
  const auto found = memory_->files.find(path.lexically_normal());
  return found == memory_->files.end() || !found->second.json ? nullptr : &*found->second.json;
}

void ModelFiles::Forget() const { memory_->files.clear(); }

}  // namespace tandem::weights
