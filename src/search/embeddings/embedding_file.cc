#include "search/embeddings/embedding_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "base/process/threads.h"

namespace tandem::search {
namespace {

static_assert(std::endian::native == std::endian::little, "files of embeddings are little-endian");

constexpr size_t kPage = 4096;
constexpr std::string_view kFirstLine = "tandem embeddings 1\n";

std::string HeaderOf(const EmbeddingLayout& layout) {
  std::string text = fmt::format("{}{}rows {}\ncolumns {}\nblock {}\n", kFirstLine, layout.source,
                                 layout.rows, layout.columns, layout.block_rows);
  if (text.size() > kPage) throw std::logic_error("the source of embeddings is too long");
  text.resize(kPage, '\n');
  return text;
}

size_t StartOfRows(const EmbeddingLayout& layout) {
  const size_t end = kPage + layout.blocks() * sizeof(uint64_t);
  return (end + kPage - 1) / kPage * kPage;
}

size_t OffsetOf(const EmbeddingLayout& layout, size_t block) {
  return StartOfRows(layout) + block * layout.block_rows * layout.columns * sizeof(float);
}

size_t BytesOf(const EmbeddingLayout& layout, size_t block) {
  return layout.rows_of(block) * layout.columns * sizeof(float);
}

size_t FileSize(const EmbeddingLayout& layout) {
  return StartOfRows(layout) + layout.rows * layout.columns * sizeof(float);
}

// Never 0, which stands for a block that is missing.
uint64_t HashOf(size_t block, std::string_view bytes) {
  RunningHash hash;
  hash.Add(uint64_t{block});
  hash.Add(bytes);
  return std::max<uint64_t>(1, hash.value());
}

std::vector<uint64_t> ReadHashes(int descriptor, const EmbeddingLayout& layout) {
  std::vector<uint64_t> hashes(layout.blocks());
  if (!ReadPart(descriptor, kPage, hashes.data(), hashes.size() * sizeof(uint64_t))) hashes.clear();
  return hashes;
}

// For each block whether its bytes have the hash that the file says.
std::vector<bool> WholeBlocks(int descriptor, const EmbeddingLayout& layout,
                              std::span<const uint64_t> hashes) {
  std::vector<uint8_t> whole(hashes.size());  // bytes, since threads write neighbours
  ParallelFor(hashes.size(), 1, layout.threads, [&](size_t begin, size_t end) {
    std::string bytes;
    for (size_t block = begin; block < end; ++block) {
      if (hashes[block] == 0) continue;
      bytes.resize(BytesOf(layout, block));
      whole[block] = ReadPart(descriptor, OffsetOf(layout, block), bytes.data(), bytes.size()) &&
                     HashOf(block, bytes) == hashes[block];
    }
  });
  return {whole.begin(), whole.end()};
}

std::string ReadHeader(int descriptor) {
  std::string header(kPage, '\0');
  return ReadPart(descriptor, 0, header.data(), kPage) ? header : "";
}

std::optional<size_t> SizeOf(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return static_cast<size_t>(status.st_size);
}

// The first line of `found` that differs from `wanted`, as words: 'has "model 1f", expected ...'.
std::string DifferenceOf(std::string_view found, std::string_view wanted) {
  if (!found.starts_with(kFirstLine)) return "is no file of embeddings of this version";
  while (true) {
    const auto line = [](std::string_view& rest) {
      const std::string_view first = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), first.size() + 1));
      return first;
    };
    const std::string_view has = line(found), expected = line(wanted);
    if (has != expected) {
      return fmt::format(
          "belongs to another model, other texts or other settings (it has \"{}\", expected "
          "\"{}\")",
          has, expected);
    }
    if (wanted.empty()) return "has another header";
  }
}

[[noreturn]] void ThrowTooLarge(const std::filesystem::path& path, const EmbeddingLayout& layout,
                                int error) {
  throw OutputError(path.native(),
                    fmt::format("cannot have the {} MB that it needs (TANDEM_CACHE names another "
                                "folder)",
                                (FileSize(layout) >> 20) + 1),
                    error);
}

size_t RowsOf(const std::vector<bool>& blocks, const EmbeddingLayout& layout) {
  size_t rows = 0;
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (blocks[block]) rows += layout.rows_of(block);
  }
  return rows;
}

// Gives a file without a header its full size and then its header, in this order: a process that
// ends in between leaves a file without one.
void Fill(int descriptor, const std::filesystem::path& path, const EmbeddingLayout& layout) {
  const auto size = static_cast<off_t>(FileSize(layout));
  if (::ftruncate(descriptor, 0) != 0) throw OutputError(path.native(), "cannot be written", errno);
  const int error = ::posix_fallocate(descriptor, 0, size);
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
    ::unlink(path.c_str());
    ThrowTooLarge(path, layout, error);
  }
  const std::string header = HeaderOf(layout);
  const bool sized = error == 0 || ::ftruncate(descriptor, size) == 0;
  if (!sized || !WritePart(descriptor, 0, header.data(), header.size()) ||
      ::fsync(descriptor) != 0) {
    throw OutputError(path.native(), "cannot be written", errno);
  }
}

}  // namespace

std::optional<MappedEmbeddings> ReadEmbeddings(const std::filesystem::path& path,
                                               const EmbeddingLayout& layout) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || SizeOf(file.number()) != FileSize(layout)) return std::nullopt;
  if (ReadHeader(file.number()) != HeaderOf(layout)) return std::nullopt;
  const std::vector<uint64_t> hashes = ReadHashes(file.number(), layout);
  if (std::find(hashes.begin(), hashes.end(), 0) != hashes.end()) return std::nullopt;
  const std::vector<bool> whole = WholeBlocks(file.number(), layout, hashes);
  if (std::find(whole.begin(), whole.end(), false) != whole.end()) return std::nullopt;
  MappedEmbeddings mapped{MappedFile(path), {}};
  const std::string_view bytes = mapped.file.bytes();
  if (bytes.size() != FileSize(layout)) return std::nullopt;  // replaced meanwhile
  mapped.values = {reinterpret_cast<const float*>(bytes.data() + StartOfRows(layout)),
                   layout.rows * layout.columns};
  return mapped;
}

size_t WholeRows(const std::filesystem::path& path, const EmbeddingLayout& layout) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || SizeOf(file.number()) != FileSize(layout)) return 0;
  if (ReadHeader(file.number()) != HeaderOf(layout)) return 0;
  return RowsOf(WholeBlocks(file.number(), layout, ReadHashes(file.number(), layout)), layout);
}

void CheckRoom(const std::filesystem::path& path, const EmbeddingLayout& layout) {
  std::error_code ignored;  // what cannot be asked for does not exist
  std::filesystem::path nearest = path;
  while (!std::filesystem::exists(nearest, ignored) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  const bool made = nearest == path;
  const int error = !made && !std::filesystem::is_directory(nearest, ignored) ? ENOTDIR
                    : ::access(nearest.c_str(), W_OK) != 0                    ? errno
                                                                              : 0;
  if (error != 0) {
    throw OutputError(path.native(),
                      fmt::format("cannot be written, because of {}", nearest.native()), error);
  }
  if (made) return;  // at its full size
  const std::filesystem::space_info space = std::filesystem::space(nearest, ignored);
  if (!ignored && space.available < FileSize(layout)) ThrowTooLarge(path, layout, ENOSPC);
}

EmbeddingWriter::EmbeddingWriter(std::filesystem::path path, EmbeddingLayout layout,
                                 const std::function<void()>& waiting)
    : path_(std::move(path)), layout_(std::move(layout)) {
  MakeFolder(path_.parent_path());
  do {
    Open(waiting);
  } while (!Take());
  kept_ = has_;
}

EmbeddingWriter::~EmbeddingWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Opens the file that has this name once the lock is held.
void EmbeddingWriter::Open(const std::function<void()>& waiting) {
  constexpr auto kPause = std::chrono::milliseconds(200);
  bool said = false;
  while (true) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw OutputError(path_.native(), "cannot be opened for writing", errno);
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return;  // no locks here
      if (!std::exchange(said, true)) {
        Note(fmt::format("waiting for another process that encodes the same texts into {}",
                         path_.native()));
      }
      if (waiting) waiting();
      std::this_thread::sleep_for(kPause);
    }
    if (IsStillAt(descriptor_, path_)) return;
  }
}

bool EmbeddingWriter::Take() {
  const auto make_again = [&](std::string_view what) {
    Warn(fmt::format("{}: {}; it is made again", path_.native(), what));
    ::unlink(path_.c_str());  // who has it open keeps what it has
    return false;
  };
  const size_t size = SizeOf(descriptor_).value_or(0);
  const std::string header = ReadHeader(descriptor_), wanted = HeaderOf(layout_);
  if (size == 0 || header == std::string(kPage, '\0')) {
    Fill(descriptor_, path_, layout_);
    has_.assign(layout_.blocks(), false);
    return true;
  }
  if (!header.empty() && header != wanted) return make_again(DifferenceOf(header, wanted));
  if (size != FileSize(layout_)) {
    return make_again(
        fmt::format("has {} bytes, expected {}: it was cut short", size, FileSize(layout_)));
  }
  const std::vector<uint64_t> hashes = ReadHashes(descriptor_, layout_);
  has_ = WholeBlocks(descriptor_, layout_, hashes);
  size_t altered = 0;
  for (size_t block = 0; block < has_.size(); ++block) altered += hashes[block] && !has_[block];
  if (altered > 0) {
    Warn(fmt::format("{}: {} of {} blocks are not as they were written; they are made again",
                     path_.native(), altered, has_.size()));
  }
  return true;
}

size_t EmbeddingWriter::kept_rows() const { return RowsOf(kept_, layout_); }

void EmbeddingWriter::Write(size_t block, std::span<const float> values) {
  if (values.size_bytes() != BytesOf(layout_, block)) {
    throw std::logic_error("a block of embeddings has another size");
  }
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const uint64_t hash = HashOf(block, bytes);
  if (!WritePart(descriptor_, OffsetOf(layout_, block), bytes.data(), bytes.size()) ||
      ::fdatasync(descriptor_) != 0 ||
      !WritePart(descriptor_, kPage + block * sizeof hash, &hash, sizeof hash)) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  has_[block] = true;
}

}  // namespace tandem::search
