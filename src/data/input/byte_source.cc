#include "data/input/byte_source.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "data/folder_files.h"

namespace tandem::data {
namespace {

constexpr unsigned kBufferBytes = 1U << 18;

// zlib reads plain files too, so that one class serves both.
class GzipSource final : public ByteSource {
 public:
  GzipSource(const std::filesystem::path& path, std::string file) : file_(std::move(file)) {
    const bool standard_input = path == "-";
    std::error_code ignored;  // opening says it better
    if (!standard_input && std::filesystem::is_directory(path, ignored)) {
      throw DataError(file_, 0, "", "is a folder, expected a file" + FilesInstead(path));
    }
    errno = 0;
    stream_ = standard_input ? ::gzdopen(::dup(STDIN_FILENO), "rb") : ::gzopen(path.c_str(), "rb");
    if (stream_ == nullptr) {
      throw DataError(file_, 0, "",
                      fmt::format("cannot be read: {}",
                                  std::strerror(errno != 0 ? errno : ENOMEM)));  // NOLINT
    }
    ::gzbuffer(stream_, kBufferBytes);
    if (path.extension() == ".gz" && ::gzdirect(stream_) != 0) FailAsNoGzip();
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
  [[noreturn]] void FailAsNoGzip() {
    std::string start(kFileKindBytes, '\0');
    const int got = ::gzread(stream_, start.data(), static_cast<unsigned>(start.size()));
    ::gzclose_r(stream_);
    start.resize(static_cast<size_t>(std::max(got, 0)));
    const std::string problem = NoDataProblem(start, file_);
    throw DataError(file_, 0, "",
                    "is called .gz but is not a gzip file" +
                        (problem.empty() ? "" : fmt::format(": it {}", problem)));
  }

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

}  // namespace

std::string NameOfInput(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.native();
}

std::unique_ptr<ByteSource> OpenBytes(const std::filesystem::path& path, const std::string& file) {
  return std::make_unique<GzipSource>(path, file);
}

std::unique_ptr<ByteSource> BytesInMemory(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

void ThrowLongLine(const std::string& file, int64_t line) {
  throw DataError(file, line, "", "is longer than 256 MiB; expected a line end");
}

}  // namespace tandem::data
