#include "data/folder_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tandem::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostShown = 5;

bool LooksLikeData(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".jsonl", ".json", ".tsv", ".txt", ".csv", ".parquet",
                                              ".qrels", ".trec", ".run"},
      [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

std::string FilesInstead(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().native();
    if (LooksLikeData(name) && entry.is_regular_file(error)) names.push_back(std::move(name));
  }
  if (names.empty()) return "";
  std::sort(names.begin(), names.end());
  if (names.size() == 1) return fmt::format("; give its file {}", names.front());
  const size_t others = names.size() - std::min(names.size(), kMostShown);
  names.resize(names.size() - others);
  return fmt::format(
      "; give one of its files: {}{}", fmt::join(names, ", "),
      others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s"));
}

}  // namespace tandem::data
