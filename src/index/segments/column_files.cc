#include "index/segments/column_files.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::index {
namespace {

std::string BytesName(std::string_view name) { return fmt::format("{}.bytes", name); }
std::string EndsName(std::string_view name) { return fmt::format("{}.ends", name); }

void CheckSize(const std::filesystem::path& path, uint64_t found, uint64_t expected) {
  if (found == expected) return;
  throw DataError(path.native(), 0, "", fmt::format("has {} bytes, expected {}", found, expected));
}

}  // namespace

std::vector<std::string> TextColumnFiles(std::string_view name) {
  return {BytesName(name), EndsName(name)};
}

TextColumnWriter::TextColumnWriter(const std::filesystem::path& folder, std::string_view name)
    : bytes_(folder / BytesName(name)), ends_(folder / EndsName(name)) {}

void TextColumnWriter::Add(std::string_view text) {
  bytes_.Write(text);
  end_ += text.size();
  ends_.Write(BytesOf(std::span<const uint64_t>(&end_, 1)));
}

void TextColumnWriter::Commit() {
  bytes_.Commit();
  ends_.Commit();
}

TextColumn::TextColumn(const std::filesystem::path& folder, std::string_view name, size_t rows)
    : path_(folder / EndsName(name)), bytes_(folder / BytesName(name)), ends_file_(path_) {
  CheckSize(path_, ends_file_.bytes().size(), rows * sizeof(uint64_t));
  ends_ = {reinterpret_cast<const uint64_t*>(ends_file_.bytes().data()), rows};
  CheckSize(folder / BytesName(name), bytes_.bytes().size(), rows == 0 ? 0 : ends_.back());
}

std::string_view TextColumn::operator[](size_t row) const {
  const uint64_t begin = row == 0 ? 0 : ends_[row - 1], end = ends_[row];
  if (begin > end || end > bytes_.bytes().size()) {
    throw DataError(path_.native(), 0, "", fmt::format("contradicts itself in row {}", row));
  }
  return bytes_.bytes().substr(begin, end - begin);
}

void TextColumn::ReleasePages() const {
  bytes_.ReleasePages();
  ends_file_.ReleasePages();
}

template <typename T>
ArrayFile<T>::ArrayFile(const std::filesystem::path& path, size_t count)
    : file_(path), count_(count) {
  CheckSize(path, file_.bytes().size(), count * sizeof(T));
}

template class ArrayFile<double>;
template class ArrayFile<float>;
template class ArrayFile<uint32_t>;
template class ArrayFile<uint64_t>;

}  // namespace tandem::index
