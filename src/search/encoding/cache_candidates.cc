#include "search/encoding/cache_candidates.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "embeddings/layouts/cache_file.h"
#include "embeddings/layouts/cache_room.h"

namespace tandem::search {
namespace {

// The first line of `wanted` that `found` has otherwise, as words; "" where it has all.
std::string CandidateDifference(const embeddings::Provenance& found,
                                const embeddings::Provenance& wanted) {
  std::string_view rest = wanted.lines();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const std::string_view name = line.substr(0, line.find(' '));
    const std::string_view has = found.Of(name);
    if (has == wanted.Of(name)) continue;
    return fmt::format("\"{} {}\", here \"{}\"", name, has, line);
  }
  return "";
}

}  // namespace

CacheCandidates CandidatesIn(const std::filesystem::path& folder,
                             const embeddings::Provenance& source, size_t count) {
  CacheCandidates candidates;
  for (const embeddings::CachedFile& file : embeddings::CachedFilesIn(folder)) {
    const auto found = embeddings::HeaderLinesOf(file.path);
    if (!found || found->Of("model") != source.Of("model") ||
        found->Of("kind") != source.Of("kind")) {
      continue;
    }
    const size_t texts = std::strtoull(std::string(found->Of("rows")).c_str(), nullptr, 10);
    if (texts > count) continue;
    const std::string difference = CandidateDifference(*found, source);
    if (difference.empty()) {
      candidates.texts.push_back(texts);
    } else {
      candidates.made_otherwise = difference;
    }
  }
  return candidates;
}

}  // namespace tandem::search
