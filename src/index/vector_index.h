// One kind of index over the vectors of one segment: what every kind does, and the catalogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/interrupt.h"
#include "config/catalogue.h"
#include "config/params.h"

namespace tandem::index {

struct RowHit {
  uint32_t row = 0;
  float score = 0;  // the dot product with the float32 row
};

// Says which rows may be found: bit (row % 64) of word row / 64.
struct RowMask {
  std::span<const uint64_t> words;
  bool operator[](size_t row) const { return (words[row / 64] >> (row % 64)) & 1; }
};

// Float32 rows [count, width] in memory or in the pages of a file; dot products are the similarity
// (rows of cosine models have length 1).
struct VectorRows {
  const float* values = nullptr;
  size_t count = 0;
  size_t width = 0;
};

struct VectorQuery {
  const float* queries = nullptr;  // [count, E]
  size_t count = 0;
  size_t k = 10;
  const RowMask* allowed = nullptr;  // null: every row
  int threads = 1;
  // 0: the kind's own. What an approximate kind may spend instead: efSearch, nprobe.
  size_t effort = 0;
};

// Says how well an approximate kind finds what exact search finds, as building has measured it with
// disturbed copies of some of the rows as queries (index/calibrate.h).
struct MeasuredRecall {
  double recall = 0;   // share of the best 10 rows that it found
  double wanted = 0;   // the recall that was asked for
  size_t queries = 0;  // that it was measured with
  size_t effort = 0;   // at this effort, which is what VectorQuery::effort = 0 spends
};

class VectorIndex {
 public:
  virtual ~VectorIndex() = default;
  // found[q]: at most k rows, best first, equal scores by row. Approximate kinds score what they
  // return exactly, by the float32 rows. Several threads may call it at the same time.
  virtual void Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const = 0;
  // Returns the bytes that searching keeps in memory, without pages of files of which a search
  // touches only a few.
  virtual uint64_t resident_bytes() const = 0;
  // Returns the recall that was measured during the build; nothing for exact kinds.
  virtual std::optional<MeasuredRecall> measured() const { return std::nullopt; }
};

struct BuildOptions {
  int threads = 1;
  uint64_t memory = uint64_t{2} << 30;  // for work besides what the kind itself must hold
  std::function<void(double share)> progress;
  StopRequest stop;
};

// The costs by which a kind is chosen automatically (index/choose.h).
struct KindCost {
  double resident_bytes = 0;  // of searching, all rows together
  double disk_bytes = 0;      // besides the float32 rows
  // The costs of approximate kinds, at the recall of the parameters, by constants that were
  // measured on one machine; they serve choosing among kinds: one query on one thread with all
  // files in memory; what it reads of the files that are not resident; building, by one thread; the
  // most recall that can be had.
  double query_seconds = 0;
  double query_bytes = 0;
  double build_seconds = 0;
  double best_recall = 1;
};

// The description of a kind: without tensors, for the catalogue, for choosing and for `tandem index
// info`.
struct IndexKindInfo : config::EntryInfo {
  bool exact = true;  // finds what float32 finds, but for rounding that re-scoring undoes
  KindCost (*cost)(size_t rows, size_t width, const config::Params& params);
  // The parameters that suit so many rows and the recall, written out where their defaults stand
  // for what depends on the rows. Null: the defaults.
  config::Params (*suited)(size_t rows, size_t width, double recall) = nullptr;
  // Throws UsageError for parameters that do not fit embeddings of this width. Null: all fit.
  void (*check)(size_t width, const config::Params& params) = nullptr;
};

// Every kind, exact ones first. The table is written from CMakeLists.txt.
std::span<const IndexKindInfo* const> IndexKinds();
// The catalogue of index kinds for `tandem list` and `tandem explain`.
config::Catalogue IndexKindCatalogue();
// Throws UsageError naming the known kinds and the nearest of them.
const IndexKindInfo& FindIndexKind(std::string_view name);

// The work of a kind, with tensor kernels or FAISS; it is in the program that links them. Its file
// is makers/NAME.cc, and kinds/NAME.cc is the kind's description.
struct IndexKindMaker {
  const IndexKindInfo* info;
  // Writes the kind's files into `folder` (names of its own: "vectors.int8", "hnsw.faiss"); returns
  // these names. Null: nothing to write, the float32 rows are enough.
  std::vector<std::string> (*build)(const VectorRows& rows, const config::Params& params,
                                    const std::filesystem::path& folder,
                                    const BuildOptions& options);
  // Opens what `build` wrote; checksums have been verified. `rows` outlives the index.
  std::unique_ptr<VectorIndex> (*open)(const VectorRows& rows, const config::Params& params,
                                       const std::filesystem::path& folder);
};

// One for each of IndexKinds(), in their order. The table is written from CMakeLists.txt.
std::span<const IndexKindMaker* const> IndexKindMakers();
const IndexKindMaker& MakerOf(const IndexKindInfo& kind);

}  // namespace tandem::index
