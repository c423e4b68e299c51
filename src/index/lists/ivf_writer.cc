#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <system_error>

#include "base/process/threads.h"
#include "index/build_parts.h"
#include "index/lists/ivf_lists.h"
#include "index/lists/ivf_training.h"

namespace tandem::index {
namespace {

constexpr size_t kAssignedRows = 16384;  // that are assigned at once: 25 MB of 384 numbers

// The codes in the order of rows, in a file that goes away with the object.
class RowCodes {
 public:
  explicit RowCodes(std::filesystem::path path) : path_(std::move(path)) {}
  RowCodes(const RowCodes&) = delete;
  RowCodes& operator=(const RowCodes&) = delete;
  ~RowCodes() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes the codes of all rows to `codes` and returns the list of each.
std::vector<uint32_t> EncodeAll(const VectorRows& rows, const IvfContent& content,
                                const RowCodes& codes, const BuildOptions& options) {
  std::vector<uint32_t> lists(rows.count);
  AtomicFile file(codes.path());
  const ListAssigner assigner(content.centroids, rows.width, options.threads);
  std::string block(kAssignedRows * content.code_bytes, '\0');
  for (size_t begin = 0; begin < rows.count; begin += kAssignedRows) {
    ThrowIfBuildStopped(options);
    const size_t count = std::min(kAssignedRows, rows.count - begin);
    const float* values = rows.values + begin * rows.width;
    assigner.Assign(values, count, lists.data() + begin);
    ParallelFor(count, 256, options.threads, [&](size_t first, size_t last) {
      content.encode(values + first * rows.width, lists.data() + begin + first, last - first,
                     reinterpret_cast<uint8_t*>(block.data()) + first * content.code_bytes);
    });
    file.Write(std::string_view(block).substr(0, count * content.code_bytes));
    if (options.progress) {
      options.progress(static_cast<double>(begin + count) / static_cast<double>(rows.count));
    }
  }
  file.Commit();
  return lists;
}

// The row at which each list begins. [L + 1]
std::vector<uint64_t> Starts(std::span<const uint32_t> list_of_row, size_t lists) {
  std::vector<uint64_t> starts(lists + 1, 0);
  for (uint32_t list : list_of_row) ++starts[list + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// The rows of all lists, in each ascending.
std::vector<uint32_t> RowsByList(std::span<const uint32_t> list_of_row,
                                 std::span<const uint64_t> starts) {
  std::vector<uint64_t> next(starts.begin(), starts.end());
  std::vector<uint32_t> rows(list_of_row.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    rows[next[list_of_row[row]]++] = static_cast<uint32_t>(row);
  }
  return rows;
}

// Writes the codes list by list, reading all of them for each run of lists that fits into memory.
void GatherCodes(const RowCodes& codes, std::span<const uint32_t> list_of_row,
                 std::span<const uint64_t> starts, size_t code_bytes, KindFileWriter& file,
                 const BuildOptions& options) {
  const MappedFile by_row(codes.path());
  const uint64_t fits = std::max<uint64_t>(options.memory / 2 / code_bytes, 1);  // rows
  const size_t lists = starts.size() - 1;
  for (size_t first = 0, last = 0; first < lists; first = last) {
    ThrowIfBuildStopped(options);
    for (last = first + 1; last < lists && starts[last + 1] - starts[first] <= fits;) ++last;
    std::string gathered((starts[last] - starts[first]) * code_bytes, '\0');
    std::vector<uint64_t> next(starts.begin() + static_cast<std::ptrdiff_t>(first),
                               starts.begin() + static_cast<std::ptrdiff_t>(last));
    for (size_t row = 0; row < list_of_row.size(); ++row) {
      const size_t list = list_of_row[row];
      if (list < first || list >= last) continue;
      const uint64_t at = next[list - first]++ - starts[first];
      std::memcpy(gathered.data() + at * code_bytes, by_row.bytes().data() + row * code_bytes,
                  code_bytes);
    }
    by_row.ReleasePages();
    file.Write(gathered);
  }
}

}  // namespace

void WriteIvfFile(const VectorRows& rows, const IvfContent& content,
                  const std::filesystem::path& path, std::string_view kind,
                  const BuildOptions& options) {
  const size_t lists = content.centroids.size() / rows.width;
  const RowCodes codes(path.string() + ".rows");
  const std::vector<uint32_t> list_of_row = EncodeAll(rows, content, codes, options);
  const std::vector<uint64_t> starts = Starts(list_of_row, lists);
  KindFileWriter file(path, kind, rows);
  file.WriteArray(content.centroids);
  file.WriteArray(std::span<const uint64_t>(starts));
  file.WriteArray(std::span<const uint32_t>(RowsByList(list_of_row, starts)));
  file.Begin();
  GatherCodes(codes, list_of_row, starts, content.code_bytes, file, options);
  if (!content.codebooks.empty()) file.WriteArray(content.codebooks);
  file.Commit({lists, content.code_bytes, content.refine});
}

}  // namespace tandem::index
