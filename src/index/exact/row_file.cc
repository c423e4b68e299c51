#include "index/exact/row_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/process/threads.h"
#include "index/exact/row_codes.h"

namespace tandem::index {
namespace {

constexpr size_t kLine = 64;
constexpr size_t WholeLines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

struct Header {
  char magic[8];
  char kind[8];
  uint64_t rows;
  uint64_t width;
  uint64_t row_bytes;
  double longest;
  double residual;
  double codes;
};
static_assert(sizeof(Header) == kLine);

Header HeaderOf(const RowFileShape& shape, const VectorRows& rows, const RowBounds& bounds) {
  Header header{.magic = {'T', 'A', 'N', 'D', 'E', 'M', 'V', '1'},
                .kind = {},
                .rows = rows.count,
                .width = rows.width,
                .row_bytes = shape.row_bytes,
                .longest = bounds.longest,
                .residual = bounds.residual,
                .codes = bounds.codes};
  shape.kind.copy(header.kind, sizeof header.kind);
  return header;
}

std::string_view BytesOf(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

void Raise(RowBounds& to, const RowBounds& bounds) {
  to.longest = std::max(to.longest, bounds.longest);
  to.residual = std::max(to.residual, bounds.residual);
  to.codes = std::max(to.codes, bounds.codes);
}

}  // namespace

void WriteRowFile(const std::filesystem::path& path, const RowFileShape& shape,
                  const VectorRows& rows, const BuildOptions& options,
                  const EncodeStoredRow& encode) {
  constexpr size_t kBlock = 8192, kGrain = 256;  // rows: of a write, of a thread's turn
  AtomicFile file(path);
  RowBounds bounds;
  file.Write(BytesOf(HeaderOf(shape, rows, bounds)));
  std::vector<std::byte> block(std::min(kBlock, rows.count) * shape.row_bytes);
  std::vector<float> scales(shape.scales ? rows.count : 0);
  std::mutex mutex;
  for (size_t first = 0; first < rows.count; first += kBlock) {
    ThrowIfStopped(options.stop);
    const size_t count = std::min(kBlock, rows.count - first);
    ParallelFor(count, kGrain, options.threads, [&](size_t begin, size_t end) {
      RowBounds own;
      for (size_t i = begin; i < end; ++i) {
        const float* row = rows.values + (first + i) * rows.width;
        const double length = RowLength(row, rows.width);
        if (!std::isfinite(length)) {
          throw NumericError(fmt::format(
              "the embedding of document {} is not finite; check the model", first + i));
        }
        own.longest = std::max(own.longest, length);
        encode(row, block.data() + i * shape.row_bytes,
               shape.scales ? scales.data() + first + i : nullptr, own);
      }
      const std::lock_guard lock(mutex);
      Raise(bounds, own);
    });
    file.Write({reinterpret_cast<const char*>(block.data()), count * shape.row_bytes});
    if (options.progress) {
      options.progress(static_cast<double>(first + count) / static_cast<double>(rows.count));
    }
  }
  const size_t row_bytes = rows.count * shape.row_bytes;
  file.Write(std::string(WholeLines(row_bytes) - row_bytes, '\0'));
  file.Write({reinterpret_cast<const char*>(scales.data()), scales.size() * sizeof(float)});
  file.WriteAt(0, BytesOf(HeaderOf(shape, rows, bounds)));
  file.Commit();
}

RowFile::RowFile(const std::filesystem::path& path, const RowFileShape& shape,
                 const VectorRows& rows)
    : file_(path) {
  const std::string_view bytes = file_.bytes();
  Header header{};
  const Header expected = HeaderOf(shape, rows, {});
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(&header, &expected, offsetof(Header, longest)) != 0) {
    throw DataError(path.string(), 0, "",
                    fmt::format("is not the {} form of these {} vectors of {} numbers; build the "
                                "index again",
                                shape.kind, rows.count, rows.width));
  }
  const size_t scales_at = sizeof header + WholeLines(rows.count * shape.row_bytes);
  const size_t size = scales_at + (shape.scales ? rows.count * sizeof(float) : 0);
  if (bytes.size() != size) {
    throw DataError(
        path.string(), 0, "",
        fmt::format("has {} bytes, expected {}; build the index again", bytes.size(), size));
  }
  bounds_ = {.longest = header.longest, .residual = header.residual, .codes = header.codes};
  rows_ = bytes.data() + sizeof header;
  scales_ = shape.scales ? reinterpret_cast<const float*>(bytes.data() + scales_at) : nullptr;
}

}  // namespace tandem::index
