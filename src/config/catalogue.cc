#include "config/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <sstream>

#include "base/suggest.h"

namespace tandem::config {

std::string UnknownName(std::string_view name, std::span<const std::string_view> known) {
  return fmt::format("{} is unknown; known are {}{}", name, fmt::join(known, ", "),
                     DidYouMean(name, known));
}

std::vector<std::string> StudyNames(const EntryInfo& entry) {
  std::istringstream words{std::string(entry.studies)};
  return {std::istream_iterator<std::string>(words), {}};
}

std::string_view IdleReason(const EntryInfo& entry, std::string_view path) {
  for (const IdleKey& idle : entry.idle_keys) {
    const bool in_table = path.size() > idle.path.size() && path.starts_with(idle.path) &&
                          path[idle.path.size()] == '.';
    if (path == idle.path || in_table) return idle.reason;
  }
  return "";
}

const Catalogue* FindCatalogue(std::span<const Catalogue> catalogues, std::string_view table) {
  for (const Catalogue& catalogue : catalogues) {
    if (!catalogue.table.empty() && catalogue.table == table) return &catalogue;
  }
  return nullptr;
}

}  // namespace tandem::config
