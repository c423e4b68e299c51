// JSON settings of a model folder (config.json, modules.json, ...), with errors that name file and
// key. Internal to the room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace tandem::weights {

// The file of a model folder that holds sentence-transformers' settings of the whole model.
inline constexpr const char* kModelSettings = "config_sentence_transformers.json";

// Far above real settings (kilobytes); tokenizer.json of large vocabularies has 35 MB.
inline constexpr uintmax_t kMaxSettingsBytes = uintmax_t{16} << 20;
inline constexpr uintmax_t kMaxTokenizerBytes = uintmax_t{256} << 20;

// A file of a model folder as bytes; throws ModelError where it is missing, no file or longer than
// `limit`.
std::string ReadModelFile(const std::filesystem::path& path, uintmax_t limit);

// Parses JSON of at most 64 levels as Python reads it. Throws ModelError.
Json ParseSettings(std::string_view text, std::string_view file);

// A file of which some members change: the others are written again as they are. Throws ModelError,
// also for NaN and other numbers that only Python writes.
Json ReadToRewrite(const std::filesystem::path& path);

// One JSON object with typed access; its members, and those inside them, are sorted by their keys.
// A key that is null counts as absent, as in Python.
class Settings {
 public:
  // Throws ModelError: missing, too long, no JSON, no object.
  static Settings Read(const std::filesystem::path& path);
  // An empty object where the file does not exist.
  static Settings ReadIfThere(const std::filesystem::path& path);
  // `value` must be an object. Messages name its keys with `place` before them, as "modules[2].".
  Settings(std::string file, Json value, std::string place = "");

  const std::string& file() const { return file_; }
  bool Has(std::string_view key) const;
  std::vector<std::string> Keys() const;
  // Says whether the key is there and null, where that is not the same as absent.
  bool IsNull(std::string_view key) const;
  void Set(std::string_view key, Json value);
  // Returns null where absent.
  const Json* Find(std::string_view key) const;

  // Each throws ModelError for another type or, for numbers, a value outside [least, most].
  std::optional<std::string> String(std::string_view key) const;
  std::optional<bool> Boolean(std::string_view key) const;
  std::optional<int64_t> Integer(std::string_view key, int64_t least, int64_t most) const;
  std::optional<double> Number(std::string_view key, double least, double most) const;
  // Reads a key that must be there.
  int64_t RequiredInteger(std::string_view key, int64_t least, int64_t most) const;
  std::string RequiredString(std::string_view key) const;
  Settings RequiredObject(std::string_view key) const;

  // "FILE: 'KEY' is FOUND; EXPECTED expected".
  [[noreturn]] void Fail(std::string_view key, std::string_view expected) const;

 private:
  std::string file_;
  Json value_;
  std::string place_;
};

}  // namespace tandem::weights
