// The one file of an approximate kind: a header, then arrays that searches read where they lie.
//
// FAISS trains and builds; the file is ours, and FAISS parses none. So lists and graphs are mapped
// rather than loaded, and what a damaged file can do is known: every array's length is checked when
// it is opened, every row number and link where it is used.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/files.h"
#include "index/vector_index.h"

namespace tandem::index {

// The header as it lies in the file, little-endian.
struct KindHeader {
  static constexpr size_t kNumbers = 6, kArrays = 8;
  struct Array {
    uint64_t offset = 0;  // from the file's start, a multiple of 64
    uint64_t bytes = 0;
  };
  std::array<char, 8> magic = {'T', 'A', 'N', 'D', 'E', 'M', 'I', '1'};
  std::array<char, 16> kind{};
  uint64_t rows = 0;
  uint64_t width = 0;
  MeasuredRecall measured;
  std::array<uint64_t, kNumbers> numbers{};  // numbers that the kind stores
  std::array<Array, kArrays> arrays{};       // in the order that the kind writes them
};

// Writes arrays one after the other.
class KindFileWriter {
 public:
  KindFileWriter(const std::filesystem::path& path, std::string_view kind, const VectorRows& rows);
  // Begins the next array; what is written until the next Begin belongs to it.
  void Begin();
  void Write(std::string_view bytes);
  template <typename T>
  void Write(std::span<const T> values) {
    Write(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }
  template <typename T>
  void WriteArray(std::span<const T> values) {
    Begin();
    Write(values);
  }
  // Completes the file. The header's rows, width and arrays are the writer's.
  void Commit(const std::array<uint64_t, KindHeader::kNumbers>& numbers);

 private:
  AtomicFile file_;
  KindHeader header_;
  uint64_t position_ = 0;
  size_t arrays_ = 0;
};

// Puts another header into a complete file, in place: with what was measured when the rest was
// written. The file must be one that nobody else can have opened yet.
void ReplaceHeader(const std::filesystem::path& path, const KindHeader& header);

// Returns the recall that was measured when the index of this file was built, without reading
// anything else of the file; nothing if the file is not of an approximate kind, or nothing was
// measured.
std::optional<MeasuredRecall> ReadMeasured(const std::filesystem::path& path);

// A mapped file. Throws DataError for one of another kind or version, of other rows, and for one
// that is shorter than its arrays.
class KindFile {
 public:
  KindFile(const std::filesystem::path& path, std::string_view kind, const VectorRows& rows);
  const KindHeader& header() const { return header_; }
  std::optional<MeasuredRecall> measured() const {
    return header_.measured.queries == 0 ? std::nullopt : std::optional(header_.measured);
  }
  uint64_t number(size_t index) const { return header_.numbers[index]; }
  // The array at `index`, which must have `count` elements; otherwise the file is damaged.
  template <typename T>
  std::span<const T> Array(size_t index, uint64_t count) const {
    return {reinterpret_cast<const T*>(Bytes(index, count, sizeof(T))), count};
  }
  // Throws the DataError of a damaged file; `what` says what contradicts what.
  [[noreturn]] void Damaged(std::string_view what) const;

 private:
  const char* Bytes(size_t index, uint64_t count, size_t element_bytes) const;
  std::string name_;
  MappedFile file_;
  KindHeader header_;
};

}  // namespace tandem::index
