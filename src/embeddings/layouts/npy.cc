#include "embeddings/layouts/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"

namespace tandem::embeddings {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

// Reads the number at the start of `text` and removes it from there.
size_t ReadNumber(std::string_view& text, const std::filesystem::path& path) {
  const size_t start = text.find_first_of("0123456789");
  size_t value = 0;
  if (start != std::string_view::npos) {
    const auto [end, error] =
        std::from_chars(text.data() + start, text.data() + text.size(), value);
    if (error == std::errc()) {
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      return value;
    }
  }
  throw DataError(path.native(), 0, "", "its .npy header has no two-dimensional shape");
}

}  // namespace

std::string NpyHeader(size_t rows, size_t columns) {
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  const size_t length = kNpyHeaderBytes - kMagic.size() - 2;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(length & 0xFF);
  header += static_cast<char>(length >> 8);
  return header + text;
}

void WriteNpy(const std::filesystem::path& path, size_t columns, std::span<const float> values) {
  if (columns == 0 || values.size() % columns != 0) {
    throw std::logic_error("WriteNpy takes whole rows");
  }
  AtomicFile file(path);
  file.Write(NpyHeader(values.size() / columns, columns));
  file.Write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  file.Commit();
}

namespace {

// The shape; `start` becomes the byte at which the values begin.
NpyShape ReadHeader(const std::filesystem::path& path, std::string_view bytes, uint64_t* start) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic.substr(0, 6) || bytes[6] != 1) {
    const std::string problem = NoDataProblem(bytes.substr(0, kFileKindBytes), path.native());
    throw DataError(
        path.native(), 0, "",
        "is not a NumPy .npy file of version 1" +
            (problem.empty() || bytes.starts_with(kMagic.substr(0, 6)) ? std::string()
                                                                       : ": it " + problem));
  }
  const size_t length = static_cast<uint8_t>(bytes[8]) | size_t{static_cast<uint8_t>(bytes[9])}
                                                             << 8;
  if (bytes.size() < 10 + length) throw DataError(path.native(), 0, "", "is cut short");
  const std::string_view header = bytes.substr(10, length);
  if (header.find("'<f4'") == std::string_view::npos ||
      header.find("'fortran_order': False") == std::string_view::npos) {
    throw DataError(path.native(), 0, "",
                    "holds no float32 matrix in C order, which is what Tandem reads");
  }
  const size_t shape_position = header.find("'shape':");
  if (shape_position == std::string_view::npos) {
    throw DataError(path.native(), 0, "", "its .npy header has no shape");
  }
  std::string_view shape = header.substr(shape_position);
  NpyShape matrix;
  matrix.rows = ReadNumber(shape, path);
  matrix.columns = ReadNumber(shape, path);
  const std::string_view body = bytes.substr(10 + length);
  if (matrix.columns != 0 && matrix.rows > body.size() / sizeof(float) / matrix.columns) {
    throw DataError(path.native(), 0, "",
                    fmt::format("is cut short: its header says {} x {} values and it holds {}",
                                matrix.rows, matrix.columns, body.size() / sizeof(float)));
  }
  *start = 10 + length;
  return matrix;
}

}  // namespace

NpyShape ReadNpyShape(const std::filesystem::path& path) {
  const MappedFile file(path);
  uint64_t start = 0;
  return ReadHeader(path, file.bytes(), &start);
}

MappedRows ReadNpy(const std::filesystem::path& path) {
  MappedFile file(path);
  uint64_t start = 0;
  const NpyShape shape = ReadHeader(path, file.bytes(), &start);
  if (start % alignof(float) != 0) {
    throw DataError(path.native(), 0, "",
                    "its .npy header is not padded to a multiple of 4 bytes, as NumPy pads it");
  }
  return MapRows(std::move(file), {.start = start, .columns = shape.columns}, shape.rows);
}

}  // namespace tandem::embeddings
