#include "index/folder/staged_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/files/files.h"
#include "index/segments/segment.h"

namespace tandem::index {
namespace {

constexpr const char* kLinesName = "places.lines";
constexpr const char* kFilesName = "places.files";
constexpr const char* kMarkName = "staged";
constexpr std::string_view kMarkStart = "rows ";
constexpr uint64_t kRowsBetweenLooks = 1024;  // at signals and progress

// Writes where documents come from.
class PlaceWriter {
 public:
  explicit PlaceWriter(const std::filesystem::path& folder)
      : lines_(folder / kLinesName), files_(folder / kFilesName) {}

  void Add(uint64_t row, std::string_view file, int64_t line) {
    if (row == 0 || file != file_) {
      file_ = file;
      files_.Write(fmt::format("{}\t{}\n", row, file_));
    }
    const auto number = static_cast<uint64_t>(line);
    lines_.Write(BytesOf(std::span<const uint64_t>(&number, 1)));
  }

  void Commit() {
    lines_.Commit();
    files_.Commit();
  }

 private:
  AtomicFile lines_;
  AtomicFile files_;
  std::string file_;
};

// The number that `text` begins with, which `text` then lacks. Throws DataError.
size_t TakeNumber(std::string_view* text, const std::filesystem::path& file) {
  size_t number = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) throw DataError(file.native(), 0, "", "is not as it was written");
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return number;
}

std::vector<std::pair<size_t, std::string>> ReadFileNames(const std::filesystem::path& path) {
  std::vector<std::pair<size_t, std::string>> files;
  const std::string text = ReadFile(path);
  for (std::string_view rest = text; !rest.empty();) {
    const size_t row = TakeNumber(&rest, path);
    const size_t end = std::min(rest.find('\n'), rest.size());
    files.emplace_back(row, rest.substr(std::min<size_t>(1, end), end - std::min<size_t>(1, end)));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return files;
}

size_t ReadRows(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kMarkName;
  const std::string text = ReadFile(path);
  std::string_view rest = text;
  if (!rest.starts_with(kMarkStart)) {
    throw DataError(path.native(), 0, "", "is not as it was written");
  }
  rest.remove_prefix(kMarkStart.size());
  return TakeNumber(&rest, path);
}

[[noreturn]] void ThrowCopy(const std::filesystem::path& folder, size_t rows, size_t first,
                            size_t second) {
  WriteFileAtomically(folder / kMarkName, fmt::format("{}{}\n", kMarkStart, rows));
  const StagedDocuments staged(folder);
  std::filesystem::remove(folder / kMarkName);
  const StagedDocuments::Place before = staged.place(first), place = staged.place(second);
  throw DataError(
      place.file, place.line, staged.id(second),
      fmt::format("this id is already that of the document at {}:{}; ids must be different",
                  before.file, before.line));
}

}  // namespace

void StageDocuments(const std::filesystem::path& folder, const NextDocument& next,
                    const StageOptions& options) {
  DocumentWriter writer(folder, options.fields);
  PlaceWriter places(folder);
  for (data::InputText document; next(&document);) {
    const uint64_t row = writer.rows();
    if (row % kRowsBetweenLooks == 0) {
      ThrowIfStopped(options.stop);
      if (options.progress) options.progress(row);
    }
    places.Add(row, document.file, document.line);
    writer.Add({.id = document.id,
                .text = document.text,
                .title_bytes = document.title_bytes,
                .metadata = document.metadata});
  }
  const size_t rows = writer.rows();
  if (options.progress) options.progress(rows);
  if (rows == 0) throw DataError(folder.native(), 0, "", "there is no document to index");
  places.Commit();
  writer.Commit({.rows_at_a_time = options.rows_at_a_time,
                 .on_copy = [&](size_t a, size_t b) { ThrowCopy(folder, rows, a, b); }});
  SyncFolder(folder);
  WriteFileAtomically(folder / kMarkName, fmt::format("{}{}\n", kMarkStart, rows));
}

bool StagedDocuments::AreIn(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / kMarkName, error);
}

StagedDocuments::StagedDocuments(const std::filesystem::path& folder)
    : rows_(ReadRows(folder)),
      ids_(folder, kIdColumn, rows_),
      texts_(folder, kTextColumn, rows_),
      lines_(folder / kLinesName, rows_),
      files_(ReadFileNames(folder / kFilesName)) {}

StagedDocuments::Place StagedDocuments::place(size_t row) const {
  const auto after = std::upper_bound(
      files_.begin(), files_.end(), row,
      [](size_t value, const std::pair<size_t, std::string>& file) { return value < file.first; });
  Place place{.file = {}, .line = static_cast<int64_t>(lines_.values()[row])};
  if (after != files_.begin()) place.file = std::prev(after)->second;
  return place;
}

void StagedDocuments::ReleasePages() const {
  ids_.ReleasePages();
  texts_.ReleasePages();
}

}  // namespace tandem::index
