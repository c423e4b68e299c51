// Finds ids that come twice among any number of them, in bounded memory.
//
//   UniqueIds ids(folder);
//   for (...) if (const auto earlier = ids.Add(id, place)) ...
//   if (const auto repeated = ids.FindRepeated()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/texts/slot_table.h"

namespace tandem::data {

// Keeps a 128-bit hash of each id with its place: 40 bytes an id in memory, of at most
// `ids_in_memory` of them; all others have 24 bytes each in a file without a name, which is gone
// with the process. Two different ids are taken for equal with a chance of 1e-20 among a billion.
class UniqueIds {
 public:
  static constexpr size_t kIdsInMemory = size_t{1} << 19;  // 20 MiB

  // `folder` is where the file is made, once it is needed.
  explicit UniqueIds(std::filesystem::path folder, size_t ids_in_memory = kIdsInMemory);
  UniqueIds(const UniqueIds&) = delete;
  UniqueIds& operator=(const UniqueIds&) = delete;
  ~UniqueIds();

  // Adds an id that stands at `place`, which says to the caller where that is; places ascend.
  // Returns the place of the same id where it is in memory. Throws OutputError for a full disk.
  std::optional<uint64_t> Add(std::string_view id, uint64_t place);

  struct Repeated {
    uint64_t first = 0;
    uint64_t second = 0;
  };
  // Finds, among all ids added, the one whose second place is the first. Reads what is in the file.
  std::optional<Repeated> FindRepeated();

  // 128 bits of hash and where the id stands.
  struct Record {
    uint64_t hash = 0;
    uint64_t other_hash = 0;
    uint64_t place = 0;
    auto operator<=>(const Record&) const = default;
  };

 private:
  void Spill();

  std::filesystem::path folder_;
  size_t ids_in_memory_;
  std::vector<Record> records_;  // in memory, by their places
  SlotTable table_;              // of records_
  int descriptor_ = -1;          // of the file
  std::vector<size_t> runs_;     // records of each sorted part of the file
  std::string joined_;
};

}  // namespace tandem::data
