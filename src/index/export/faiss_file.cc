#include "index/export/faiss_file.h"

#include <bit>
#include <string>

namespace tandem::index {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename Number>
void AppendNumber(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string FaissFlatHeader(uint64_t rows, size_t width) {
  std::string header = "IxFI";
  AppendNumber<int32_t>(header, static_cast<int32_t>(width));
  AppendNumber<int64_t>(header, static_cast<int64_t>(rows));
  for (int i = 0; i < 2; ++i) AppendNumber<int64_t>(header, int64_t{1} << 20);
  AppendNumber<uint8_t>(header, 1);
  AppendNumber<int32_t>(header, 0);
  AppendNumber<uint64_t>(header, rows * width);
  return header;
}

}  // namespace

FaissFlatFile::FaissFlatFile(const std::filesystem::path& path, uint64_t rows, size_t width)
    : file_(path) {
  file_.Write(FaissFlatHeader(rows, width));
}

void FaissFlatFile::Write(std::span<const float> row) {
  file_.Write({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
}

}  // namespace tandem::index
