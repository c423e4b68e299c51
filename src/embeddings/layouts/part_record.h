// The record of one part of a folder of embeddings, as `tandem encode --shard` and encoding under a
// launcher write it. A folder of N parts holds for each, of shard I counted from 0,
//
//   part-I-of-N.npy       float32 [n, E]; I and N have five digits
//   part-I-of-N.ids.txt   a line for each row
//   part-I-of-N.json      the record: what the two files hold and were made with. Written last, so
//                         that a part without it is not complete
//
// Together the records are the folder's manifest. No two processes write one file, and none waits
// for another: N machines fill a folder on a network file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/hashes/checksum.h"
#include "embeddings/provenance.h"

namespace tandem::embeddings {

inline constexpr uint32_t kMostShards = 99'999;
inline constexpr const char* kPartRows = ".npy";  // after Shard::Name
inline constexpr const char* kPartIds = ".ids.txt";

// The part's place: shard `index`, from 0, of `count`.
struct Shard {
  uint32_t index = 0;
  uint32_t count = 1;

  std::string Text() const;  // "3/16"
  std::string Name() const;  // "part-00003-of-00016"
  bool operator==(const Shard&) const = default;
};

// The shard in the name of a file of a part, whatever ending it has; nothing for other files.
std::optional<Shard> ShardOfFile(std::string_view name);

struct PartFileRecord {
  std::string name;
  uint64_t bytes = 0;
  Checksum checksum;
};

struct PartRecord {
  Shard shard;
  uint64_t first_row = 0;   // among those of all parts
  uint64_t rows = 0;        // of this one
  uint64_t total_rows = 0;  // of all
  uint64_t width = 0;       // E
  std::string similarity;   // how the model compares embeddings: "cosine" or "dot"
  std::string prompt;       // that stood before each text
  Provenance provenance;
  uint64_t texts_hash = 0;  // of ids and texts
  PartFileRecord embeddings;
  PartFileRecord ids;
};

std::string FormatPartRecord(const PartRecord& record);
// Throws DataError naming `file` and what is wrong in it.
PartRecord ParsePartRecord(std::string_view text, std::string_view file);

}  // namespace tandem::embeddings
