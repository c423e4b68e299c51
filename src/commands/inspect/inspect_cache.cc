// The cache of embeddings: which files it has, what they hold, when they were last used.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/json/json.h"
#include "commands/inspect/inspections.h"
#include "embeddings/layouts/cache_file.h"
#include "embeddings/layouts/cache_room.h"
#include "embeddings/provenance.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

// The folder of the files: that of the cache itself, or the one given.
fs::path FolderOfFiles(const fs::path& path) {
  const fs::path inner = path / "embeddings";
  return fs::is_directory(inner) ? inner : path;
}

// "2026-11-27 02:30:05" in UTC.
std::string TimeText(fs::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(system));
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(seconds));
}

// A whole number of the header; 0 where there is none.
uint64_t NumberOf(const embeddings::Provenance& lines, std::string_view name) {
  return std::strtoull(std::string(lines.Of(name)).c_str(), nullptr, 10);
}

}  // namespace

bool IsCache(const fs::path& path) {
  return !embeddings::CachedFilesIn(FolderOfFiles(path)).empty();
}

Json InspectCache(const fs::path& path) {
  const fs::path folder = FolderOfFiles(path);
  uint64_t bytes = 0;
  Json files = Json::array();
  for (const embeddings::CachedFile& file : embeddings::CachedFilesIn(folder)) {
    bytes += file.bytes;
    Json row = {{"file", file.path.filename().native()},
                {"bytes", file.bytes},
                {"used", TimeText(file.used)}};
    if (const auto lines = embeddings::HeaderLinesOf(file.path)) {
      row["texts"] = NumberOf(*lines, "rows");
      row["width"] = NumberOf(*lines, "columns");
      for (const char* name : {"kind", "precision", "model"}) {
        row[name] = std::string(lines->Of(name));
      }
    } else {
      row["kind"] = "not filled, or of another version";
    }
    files.push_back(std::move(row));
  }
  return {{"kind", "cache"},
          {"folder", folder.native()},
          {"bytes", bytes},
          {"limit", CacheLimit()},
          {"files", std::move(files)}};
}

Json InspectCachedFile(const fs::path& path) {
  const auto lines = embeddings::HeaderLinesOf(path);
  if (!lines) {
    throw DataError(path.native(), 0, "",
                    "is no file of the cache of this version, or was not begun to be filled");
  }
  Json found = {{"kind", "cached_embeddings"}};
  std::string_view rest = lines->lines();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string name(line.substr(0, space));
    found[name == "kind" ? "texts of" : name] = std::string(line.substr(space + 1));
  }
  return found;
}

}  // namespace tandem::app
