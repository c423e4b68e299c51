#include "embeddings/layouts/cache_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "embeddings/layouts/cache_room.h"
#include "embeddings/open_file.h"

namespace tandem::embeddings {
namespace {

constexpr size_t kPage = 4096;
constexpr std::string_view kCacheFirstLine = "tandem embeddings 3\n";

std::string HeaderOf(const CacheLayout& layout) {
  std::string text =
      fmt::format("{}{}rows {}\ncolumns {}\nblock {}\n", kCacheFirstLine, layout.provenance.lines(),
                  layout.shape.rows, layout.columns, layout.shape.block_rows);
  if (text.size() > kPage) throw std::logic_error("the provenance of embeddings is too long");
  text.resize(kPage, '\n');
  return text;
}

// The byte at which the counts of a block begin, of one after the last block: at which all end.
uint64_t OffsetOfCounts(const CacheLayout& layout, size_t block) {
  return kPage + layout.shape.blocks() * sizeof(uint64_t) + block * sizeof(EncodeCounts::Numbers);
}

// Zeros where they cannot be read.
EncodeCounts ReadCounts(int descriptor, const CacheLayout& layout, size_t block) {
  EncodeCounts::Numbers numbers{};
  const bool is_read =
      ReadPart(descriptor, OffsetOfCounts(layout, block), numbers.data(), sizeof(numbers));
  return is_read ? EncodeCounts::FromNumbers(numbers) : EncodeCounts();
}

RowPlace PlaceOf(const CacheLayout& layout) {
  const size_t end = OffsetOfCounts(layout, layout.shape.blocks());
  return {.start = (end + kPage - 1) / kPage * kPage, .columns = layout.columns};
}

uint64_t FileSize(const CacheLayout& layout) { return PlaceOf(layout).OffsetOf(layout.shape.rows); }

EqualBlocks BlocksOf(int descriptor, const std::filesystem::path& path, const CacheLayout& layout) {
  return {{descriptor, path, PlaceOf(layout)},
          layout.shape,
          {.descriptor = descriptor, .start = kPage, .numbered = true}};
}

std::string ReadHeader(int descriptor) {
  std::string header(kPage, '\0');
  return ReadPart(descriptor, 0, header.data(), kPage) ? header : "";
}

std::optional<uint64_t> SizeOf(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

FileDescriptor OpenToRead(const std::filesystem::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// The state of each block; none where there is no file of this layout.
std::vector<BlockState> StatesOf(const FileDescriptor& file, const std::filesystem::path& path,
                                 const CacheLayout& layout) {
  if (file.number() < 0 || SizeOf(file.number()) != FileSize(layout)) return {};
  if (ReadHeader(file.number()) != HeaderOf(layout)) return {};
  return BlocksOf(file.number(), path, layout).States(layout.threads);
}

// The first line of `found` that differs from `wanted`, as words: 'has "model 1f", expected ...'.
std::string DifferenceOf(std::string_view found, std::string_view wanted) {
  if (!found.starts_with(kCacheFirstLine))
    return "another version of Tandem made it, or it is damaged";
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

[[noreturn]] void ThrowTooLarge(const std::filesystem::path& path, const CacheLayout& layout,
                                int error) {
  throw OutputError(path.native(),
                    fmt::format("cannot have the {} MB that it needs (TANDEM_CACHE names another "
                                "folder)",
                                (FileSize(layout) >> 20) + 1),
                    error);
}

// Gives a file without a header its full size and then its header, in this order: a process that
// ends in between leaves a file without one.
void Fill(int descriptor, const std::filesystem::path& path, const CacheLayout& layout) {
  if (::ftruncate(descriptor, 0) != 0) throw OutputError(path.native(), "cannot be written", errno);
  const int error = GiveSize(descriptor, FileSize(layout));
  if (IsFull(error)) {
    ::unlink(path.c_str());
    ThrowTooLarge(path, layout, error);
  }
  const std::string header = HeaderOf(layout);
  if (error != 0 || !WritePart(descriptor, 0, header.data(), header.size()) ||
      ::fsync(descriptor) != 0) {
    throw OutputError(path.native(), "cannot be written", error != 0 ? error : errno);
  }
}

}  // namespace

std::optional<MappedRows> ReadCacheFile(const std::filesystem::path& path,
                                        const CacheLayout& layout) {
  const FileDescriptor looked_at = OpenToRead(path);
  const std::vector<BlockState> states = StatesOf(looked_at, path, layout);
  if (states.empty() || WholeRows(states, layout.shape) < layout.shape.rows) return std::nullopt;
  try {
    MappedFile file(path);
    // Another process may have taken the file away to make room, and a third one may have begun to
    // fill a new one of this name.
    if (!IsStillAt(looked_at.number(), path)) return std::nullopt;
    MarkUsed(path);
    return MapRows(std::move(file), PlaceOf(layout), layout.shape.rows);
  } catch (const DataError&) {  // it is gone
    return std::nullopt;
  }
}

EncodeCounts CountsOf(const std::filesystem::path& path, const CacheLayout& layout) {
  EncodeCounts counts;
  const FileDescriptor file = OpenToRead(path);
  if (file.number() < 0) return counts;
  for (size_t block = 0; block < layout.shape.blocks(); ++block) {
    counts += ReadCounts(file.number(), layout, block);
  }
  return counts;
}

size_t WholeRowsOf(const std::filesystem::path& path, const CacheLayout& layout) {
  return WholeRows(StatesOf(OpenToRead(path), path, layout), layout.shape);
}

std::optional<Provenance> HeaderLinesOf(const std::filesystem::path& path) {
  const FileDescriptor file = OpenToRead(path);
  if (file.number() < 0) return std::nullopt;
  std::string header = ReadHeader(file.number());
  if (!header.starts_with(kCacheFirstLine)) return std::nullopt;
  header.erase(0, kCacheFirstLine.size());
  header.resize(header.find_last_not_of('\n') + 2);  // npos + 2 is 1
  return Provenance(std::move(header));
}

void CheckRoom(const std::filesystem::path& path, const CacheLayout& layout) {
  std::error_code ignored;  // a path that cannot be queried does not exist
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

CacheFileWriter::CacheFileWriter(std::filesystem::path path, CacheLayout layout,
                                 const std::function<void()>& waiting, uint64_t limit)
    : path_(std::move(path)), layout_(std::move(layout)), limit_(limit) {
  MakeFolder(path_.parent_path());
  do {
    Open(waiting);
  } while (!Take());
  kept_rows_ = WholeRows(states_, layout_.shape);
  for (size_t block = 0; block < states_.size(); ++block) {
    if (has(block)) kept_counts_ += ReadCounts(file_.number(), layout_, block);
  }
}

// Opens the file that has this name once the lock is held.
void CacheFileWriter::Open(const std::function<void()>& waiting) {
  constexpr auto kPause = std::chrono::milliseconds(200);
  bool said = false;
  file_ = FileDescriptor();  // the lock of one that cannot be used goes
  file_ = OpenLocked(path_, [&] {
    if (!std::exchange(said, true)) {
      Note(fmt::format("waiting for another process that encodes the same texts into {}",
                       path_.native()));
    }
    if (waiting) waiting();
    std::this_thread::sleep_for(kPause);
  });
  if (file_.number() < 0) throw OutputError(path_.native(), "cannot be opened for writing", errno);
}

bool CacheFileWriter::Take() {
  const auto make_again = [&](std::string_view what) {
    Warn(fmt::format(
        "{}: {}; it is made again: its texts are encoded anew, and nothing needs to be done",
        path_.native(), what));
    ::unlink(path_.c_str());  // who has it open keeps what it has
    return false;
  };
  const int descriptor = file_.number();
  const uint64_t size = SizeOf(descriptor).value_or(0);
  const std::string header = ReadHeader(descriptor), wanted = HeaderOf(layout_);
  if (size == 0 || header == std::string(kPage, '\0')) {
    TakeRoom();
    Fill(descriptor, path_, layout_);
    states_.assign(layout_.shape.blocks(), BlockState::kMissing);
    return true;
  }
  if (!header.empty() && header != wanted) return make_again(DifferenceOf(header, wanted));
  if (size != FileSize(layout_)) {
    return make_again(
        fmt::format("has {} bytes, expected {}: it was cut short", size, FileSize(layout_)));
  }
  states_ = BlocksOf(descriptor, path_, layout_).States(layout_.threads);
  const auto altered = std::count(states_.begin(), states_.end(), BlockState::kAltered);
  if (altered > 0) {
    Warn(fmt::format("{}: {} of {} blocks are not as they were written; they are made again",
                     path_.native(), altered, states_.size()));
  }
  return true;
}

// Called with the lock of a file that has no bytes yet.
void CacheFileWriter::TakeRoom() const {
  const uint64_t bytes = FileSize(layout_);
  const CacheRoom room = MakeRoom(path_.parent_path(), bytes, limit_);
  if (room.removed > 0) {
    Note(
        fmt::format("{}: {} of embeddings that were not used for longest are removed, in {} file{} "
                    "(TANDEM_CACHE_BYTES is {})",
                    path_.parent_path().native(), FormatByteSize(room.freed), room.removed,
                    room.removed == 1 ? "" : "s", FormatByteSize(limit_)));
  }
  if (room.enough) return;
  ::unlink(path_.c_str());
  throw OutputError(path_.native(),
                    fmt::format("needs {}, and TANDEM_CACHE_BYTES leaves the cache {}{}",
                                FormatByteSize(bytes), FormatByteSize(limit_),
                                bytes > limit_ ? "" : ", most of which other processes fill"),
                    EDQUOT);
}

bool CacheFileWriter::Read(size_t block, std::span<float> values) const {
  return ReadPart(file_.number(), PlaceOf(layout_).OffsetOf(layout_.shape.first_row(block)),
                  values.data(), values.size_bytes());
}

void CacheFileWriter::Write(size_t block, std::span<const float> values,
                            const EncodeCounts& counts) {
  const EncodeCounts::Numbers numbers = counts.AsNumbers();
  if (!WritePart(file_.number(), OffsetOfCounts(layout_, block), numbers.data(), sizeof(numbers))) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  BlocksOf(file_.number(), path_, layout_).Write(block, values);
  states_[block] = BlockState::kWhole;
}

}  // namespace tandem::embeddings
