#include "data/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "data/read_ahead.h"

namespace tandem::data {
namespace {

constexpr size_t kStartBytes = size_t{1} << 18;
// No text of a corpus is this long; a file without line ends must not fill the memory.
constexpr size_t kMaxLineBytes = size_t{1} << 28;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// zlib reads plain files too, so that one class serves both.
class GzipSource final : public ByteSource {
 public:
  GzipSource(const std::filesystem::path& path, std::string file) : file_(std::move(file)) {
    const bool standard_input = path == "-";
    if (!standard_input && std::filesystem::is_directory(path)) {
      throw DataError(file_, 0, "", "is a folder, expected a file");
    }
    errno = 0;
    stream_ = standard_input ? ::gzdopen(::dup(STDIN_FILENO), "rb") : ::gzopen(path.c_str(), "rb");
    if (stream_ == nullptr) {
      throw DataError(file_, 0, "",
                      fmt::format("cannot be read: {}",
                                  std::strerror(errno != 0 ? errno : ENOMEM)));  // NOLINT
    }
    ::gzbuffer(stream_, kStartBytes);
    if (path.extension() == ".gz" && ::gzdirect(stream_) != 0) {
      ::gzclose_r(stream_);
      throw DataError(file_, 0, "", "is called .gz but is not a gzip file");
    }
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { ::gzclose_r(stream_); }

  size_t Read(char* out, size_t size) override {
    const int got = ::gzread(stream_, out, static_cast<unsigned>(size));
    int code = Z_OK;
    const char* message = ::gzerror(stream_, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      throw DataError(
          file_, 0, "",
          fmt::format("cannot be read: {}", code == Z_ERRNO       ? std::strerror(errno)
                                            : code == Z_BUF_ERROR ? "the gzip stream is cut short"
                                                                  : message));
    }
    return static_cast<size_t>(got);
  }

 private:
  std::string file_;
  gzFile stream_ = nullptr;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  size_t Read(char* out, size_t size) override {
    const size_t count = std::min(size, bytes_.size());
    std::copy_n(bytes_.data(), count, out);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

// A file that is large is read, and unpacked, ahead. A pipe is not: who has stopped reading it must
// not wait for it.
std::unique_ptr<ByteSource> Open(const std::filesystem::path& path, const std::string& file) {
  auto source = std::make_unique<GzipSource>(path, file);
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return source;
  return ReadAhead(std::move(source));
}

bool IsBlank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; });
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, Warnings& warnings)
    : file_(path == "-" ? "standard input" : path.native()),
      warnings_(&warnings),
      source_(Open(path, file_)),
      buffer_(kStartBytes + kPadding) {}

LineReader::LineReader(std::string file, std::string_view bytes, Warnings& warnings)
    : file_(std::move(file)),
      warnings_(&warnings),
      source_(std::make_unique<MemorySource>(bytes)),
      buffer_(std::min(kStartBytes, bytes.size() + 1) + kPadding) {}

bool LineReader::Refill() {
  if (at_end_) return false;
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ + kPadding == buffer_.size()) {
    if (end_ >= kMaxLineBytes) {
      throw DataError(file_, line_number_ + 1, "", "is longer than 256 MiB; expected a line end");
    }
    buffer_.resize(end_ * 2 + kPadding);
  }
  const size_t got = source_->Read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

bool LineReader::NextRaw(std::string_view* line) {
  size_t searched = 0;
  while (true) {
    const std::string_view pending(buffer_.data() + begin_, end_ - begin_);
    const size_t newline = pending.find('\n', searched);
    searched = pending.size();
    if (newline != std::string_view::npos) {
      *line = pending.substr(0, newline);
      begin_ += newline + 1;
      break;
    }
    if (Refill()) continue;
    if (pending.empty()) return false;
    *line = std::string_view(buffer_.data() + begin_, pending.size());
    begin_ = end_;
    break;
  }
  ++line_number_;
  return true;
}

bool LineReader::Next(std::string_view* line) {
  while (NextRaw(line)) {
    if (line_number_ == 1 && line->starts_with(kByteOrderMark)) {
      line->remove_prefix(kByteOrderMark.size());
      warnings_->Count(file_, "byte order marks, ignored", line_number_);
    }
    if (line->ends_with('\r')) {
      line->remove_suffix(1);
      warnings_->Count(file_, "lines that end in CR LF, read as LF", line_number_);
    }
    if (!IsBlank(*line)) return true;
    warnings_->Count(file_, "blank lines, skipped", line_number_);
  }
  return false;
}

}  // namespace tandem::data
