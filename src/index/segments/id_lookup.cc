#include "index/segments/id_lookup.h"

#include <algorithm>

#include "base/hashes/text_hash.h"

namespace tandem::index {
namespace {

constexpr const char* kHashesName = "ids.hashes";
constexpr const char* kRowsName = "ids.rows";

struct HashedRow {
  uint64_t hash;
  uint32_t row;
  bool operator<(const HashedRow& other) const {
    return hash != other.hash ? hash < other.hash : row < other.row;
  }
};

// floor(hash * count / 2^64): where a hash stands among `count` that are spread evenly.
size_t Spread(uint64_t hash, size_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<size_t>((static_cast<Wide>(hash) * count) >> 64);
}

// Rows of the same hash stand side by side; different ids rarely have the same.
void CheckCopies(const std::vector<HashedRow>& sorted, const TextColumn& ids,
                 const IdLookupOptions& options) {
  for (size_t i = 1; i < sorted.size(); ++i) {
    for (size_t j = i; j > 0 && sorted[j - 1].hash == sorted[i].hash; --j) {
      if (ids[sorted[j - 1].row] == ids[sorted[i].row]) {
        options.on_copy(sorted[j - 1].row, sorted[i].row);
      }
    }
  }
}

}  // namespace

std::vector<std::string> IdLookupFiles() { return {kHashesName, kRowsName}; }

void WriteIdLookup(const std::filesystem::path& folder, const TextColumn& ids, size_t rows,
                   const IdLookupOptions& options) {
  AtomicFile hashes(folder / kHashesName), numbers(folder / kRowsName);
  const size_t passes = rows / options.rows_at_a_time + 1;
  std::vector<HashedRow> part;
  for (size_t pass = 0; pass < passes; ++pass) {
    part.clear();
    for (size_t row = 0; row < rows; ++row) {
      const uint64_t hash = TextHash(ids[row]);
      if (Spread(hash, passes) == pass) part.push_back({hash, static_cast<uint32_t>(row)});
    }
    std::sort(part.begin(), part.end());
    CheckCopies(part, ids, options);
    for (const HashedRow& one : part) {
      hashes.Write(BytesOf(std::span<const uint64_t>(&one.hash, 1)));
      numbers.Write(BytesOf(std::span<const uint32_t>(&one.row, 1)));
    }
  }
  hashes.Commit();
  numbers.Commit();
}

IdLookup::IdLookup(const std::filesystem::path& folder, const TextColumn& ids, size_t rows)
    : ids_(ids), hashes_(folder / kHashesName, rows), rows_(folder / kRowsName, rows) {}

size_t IdLookup::FirstOf(uint64_t hash) const {
  const std::span<const uint64_t> hashes = hashes_.values();
  // Hashes are spread evenly: the place is near the guess, and steps that double from there find
  // both sides of it within a page or two.
  const size_t guess = Spread(hash, hashes.size());
  size_t low = guess, high = guess;
  for (size_t step = 1; low > 0 && hashes[low - 1] >= hash; step *= 2) low -= std::min(low, step);
  for (size_t step = 1; high < hashes.size() && hashes[high] < hash; step *= 2) {
    high = std::min(hashes.size(), high + step);
  }
  const auto at = std::lower_bound(hashes.begin() + static_cast<std::ptrdiff_t>(low),
                                   hashes.begin() + static_cast<std::ptrdiff_t>(high), hash);
  return static_cast<size_t>(at - hashes.begin());
}

std::optional<uint32_t> IdLookup::Find(std::string_view id) const {
  const std::span<const uint64_t> hashes = hashes_.values();
  const uint64_t hash = TextHash(id);
  for (size_t at = FirstOf(hash); at < hashes.size() && hashes[at] == hash; ++at) {
    const uint32_t row = rows_.values()[at];
    if (row < hashes.size() && ids_[row] == id) return row;
  }
  return std::nullopt;
}

}  // namespace tandem::index
