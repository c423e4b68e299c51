// The settings files of a model folder and of the folders below it: each is read and parsed once,
// when it is first asked for, whoever asks.
//
//   const ModelFiles files("models/e5");
//   files.Read("config.json").RequiredString("model_type");
//   for (const ListedModule& module : files.Modules()) ... files.Below(module.folder) ...
#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace tandem {
class Json;
}

namespace tandem::weights {

struct ListedModule;
class Settings;

// Copies, and what Below and At return, know what the others have read. One thread may use them.
class ModelFiles {
 public:
  ModelFiles() : ModelFiles(std::filesystem::path()) {}
  // A path is a folder of which nothing has been read yet. The conversion is implicit, so that a
  // function takes either.
  template <typename Path>
  requires std::convertible_to<Path, std::filesystem::path> ModelFiles(const Path& path)
      : ModelFiles(std::filesystem::path(path), nullptr) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path PathOf(std::string_view file) const { return path_ / file; }
  // The folder of this name; "" is this one.
  ModelFiles Below(const std::filesystem::path& folder) const;
  // The folder with this path, wherever it is.
  ModelFiles At(std::filesystem::path folder) const;
  bool Has(std::string_view file) const;

  // Throws ModelError: missing, too long, no JSON, no object.
  const Settings& Read(std::string_view file) const;
  // An empty object where the file does not exist.
  const Settings& ReadIfThere(std::string_view file) const;
  // Returns the list of modules.json (ModulesIn).
  const std::vector<ListedModule>& Modules() const;

  // A file, here or elsewhere, that has been read before, its members in their order there; null
  // for any other.
  const Json* Find(const std::filesystem::path& path) const;
  // Gives back the memory: what is asked for later is read again.
  void Forget() const;

 private:
  struct File;
  struct Memory;

  ModelFiles(std::filesystem::path path, std::shared_ptr<Memory> memory);
  File& FileAt(std::string_view file) const;
  const Json& Parsed(std::string_view file) const;

  std::filesystem::path path_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace tandem::weights
