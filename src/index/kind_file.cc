#include "index/kind_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <type_traits>

#include "base/error.h"

namespace tandem::index {
namespace {

static_assert(std::is_trivially_copyable_v<KindHeader>);
constexpr uint64_t kAlignment = 64;  // a cache line

std::string_view AsBytes(const KindHeader& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace

KindFileWriter::KindFileWriter(const std::filesystem::path& path, std::string_view kind,
                               const VectorRows& rows)
    : file_(path) {
  kind.copy(header_.kind.data(), header_.kind.size());
  header_.rows = rows.count;
  header_.width = rows.width;
  file_.Write(AsBytes(header_));
  position_ = sizeof header_;
}

void KindFileWriter::Begin() {
  const uint64_t padding = (kAlignment - position_ % kAlignment) % kAlignment;
  file_.Write(std::string(padding, '\0'));
  position_ += padding;
  header_.arrays.at(arrays_++).offset = position_;
}

void KindFileWriter::Write(std::string_view bytes) {
  file_.Write(bytes);
  position_ += bytes.size();
  header_.arrays.at(arrays_ - 1).bytes += bytes.size();
}

void KindFileWriter::Commit(const std::array<uint64_t, KindHeader::kNumbers>& numbers) {
  header_.numbers = numbers;
  file_.WriteAt(0, AsBytes(header_));
  file_.Commit();
}

void ReplaceHeader(const std::filesystem::path& path, const KindHeader& header) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string_view bytes = AsBytes(header);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw OutputError(path.string(), "cannot be written", errno);
}

std::optional<MeasuredRecall> ReadMeasured(const std::filesystem::path& path) {
  KindHeader header;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || header.magic != KindHeader().magic || header.measured.queries == 0) {
    return std::nullopt;
  }
  return header.measured;
}

KindFile::KindFile(const std::filesystem::path& path, std::string_view kind, const VectorRows& rows)
    : name_(path.string()), file_(path) {
  if (file_.bytes().size() < sizeof header_) Damaged("it is shorter than its header");
  std::memcpy(&header_, file_.bytes().data(), sizeof header_);
  if (header_.magic != KindHeader().magic) {
    throw DataError(name_, 0, "", "is no index of this version of Tandem; build the index again");
  }
  const std::string_view found(header_.kind.data(),
                               strnlen(header_.kind.data(), header_.kind.size()));
  if (found != kind) Damaged(fmt::format("it is of kind {}, expected {}", found, kind));
  if (header_.rows != rows.count || header_.width != rows.width) {
    Damaged(fmt::format("it is of {} rows of {} numbers, the vectors are {} rows of {}",
                        header_.rows, header_.width, rows.count, rows.width));
  }
}

const char* KindFile::Bytes(size_t index, uint64_t count, size_t element_bytes) const {
  const KindHeader::Array& array = header_.arrays.at(index);
  const uint64_t size = file_.bytes().size();
  if (array.bytes / element_bytes != count || array.bytes % element_bytes != 0) {
    Damaged(fmt::format("array {} has {} bytes, expected {} elements of {}", index, array.bytes,
                        count, element_bytes));
  }
  if (array.offset % kAlignment != 0 || array.offset > size || array.bytes > size - array.offset) {
    Damaged(fmt::format("array {} ends after the end of the file", index));
  }
  return file_.bytes().data() + array.offset;
}

void KindFile::Damaged(std::string_view what) const {
  throw DataError(name_, 0, "", fmt::format("is damaged: {}; build the index again", what));
}

}  // namespace tandem::index
