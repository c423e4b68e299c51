// Rows in lists by their nearest centroid, of which a search reads the nearest few: in a file that
// is mapped, so that memory need only hold what searches read often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "index/graph/best_rows.h"
#include "index/graph/row_products.h"
#include "index/kind_file.h"
#include "index/vector_index.h"

namespace tandem::index {

// One list as it lies in the file.
struct RowList {
  const float* centroid = nullptr;  // [E]
  std::span<const uint32_t> rows;
  const uint8_t* codes = nullptr;  // [rows, bytes of a code]
};

// Scores codes of lists for one query at a time.
class ListScanner {
 public:
  virtual ~ListScanner() = default;
  virtual void SetQuery(const float* query) = 0;
  // Offers the list's rows that are allowed and are rows.
  virtual void Scan(const RowList& list, const RowMask* allowed, BestRows& best) const = 0;
};

// Says which rows may be offered: a damaged file may name rows that do not exist.
inline bool MayFind(uint32_t row, size_t count, const RowMask* allowed) {
  return row < count && (!allowed || (*allowed)[row]);
}

// The arrays of the file of either kind of lists; further ones follow.
enum IvfArray : size_t { kCentroids, kStarts, kListRows, kCodes, kIvfArrays };
// Its numbers.
enum IvfNumber : size_t { kLists, kCodeBytes, kRefine };

// Opens the lists and searches them; the kinds say how codes are scored.
class IvfLists : public VectorIndex {
 public:
  IvfLists(const VectorRows& rows, const std::filesystem::path& path, std::string_view kind);

  void Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const override;
  uint64_t resident_bytes() const override;
  std::optional<MeasuredRecall> measured() const override { return file_.measured(); }

  const KindHeader& header() const { return file_.header(); }
  size_t lists() const { return starts_.size() - 1; }

 protected:
  virtual std::unique_ptr<ListScanner> MakeScanner() const = 0;
  // Rows that are scored exactly where k are wanted.
  virtual size_t Candidates(size_t k) const = 0;
  const KindFile& file() const { return file_; }
  const VectorRows& rows() const { return rows_; }

 private:
  struct Probe;
  RowList List(size_t list) const;
  // The lists that have rows, the nearest `count` of them in front and in order.
  std::vector<RowHit> NearestLists(const float* query, size_t count) const;
  std::vector<RowHit> SearchOne(const float* query, const VectorQuery& options, const Probe& probe,
                                ListScanner& scanner) const;

  VectorRows rows_;
  KindFile file_;
  std::span<const float> centroids_;     // [L, E]
  std::span<const uint64_t> starts_;     // [L + 1], in rows
  std::span<const uint32_t> list_rows_;  // [N]
  std::span<const uint8_t> codes_;       // [N, code bytes]
  // The centroids in int8: all of them are compared with every query.
  std::vector<int8_t> small_centroids_;  // [L, E]
  std::vector<float> scales_;            // [L]
};

// Writes the codes of `count` rows [count, E] that belong to `lists`, [count, code bytes]. Called
// by several threads.
using EncodeRows =
    std::function<void(const float* rows, const uint32_t* lists, size_t count, uint8_t* codes)>;

struct IvfContent {
  std::span<const float> centroids;  // [L, E]
  size_t code_bytes = 0;
  EncodeRows encode;
  uint64_t refine = 0;
  std::span<const float> codebooks;  // a further array, where it is not empty
};

// Writes the file of a kind. Memory holds 8 bytes a row besides what the options allow; codes are
// written in the order of rows first, beside the file, and gathered for as many lists at a time as
// memory allows.
void WriteIvfFile(const VectorRows& rows, const IvfContent& content,
                  const std::filesystem::path& path, std::string_view kind,
                  const BuildOptions& options);

}  // namespace tandem::index
