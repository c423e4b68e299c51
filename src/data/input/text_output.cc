#include "data/input/text_output.h"

#include <zlib.h>

#include <new>
#include <stdexcept>
#include <vector>

namespace tandem::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 18;
// zlib's largest window; 16 more ask for a gzip header, which holds no name and no time.
constexpr int kGzipWindow = 15 + 16;
constexpr int kMemoryLevel = 8;  // zlib's default
// Bytes that deflate takes at once: its counters have 32 bits.
constexpr size_t kMostInput = size_t{1} << 30;

}  // namespace

class TextOutput::Gzip {
 public:
  explicit Gzip(AtomicFile& file) : file_(file), out_(kChunkBytes) {
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { ::deflateEnd(&stream_); }

  void Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMostInput);
      Deflate(part, Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  void Finish() { Deflate({}, Z_FINISH); }

 private:
  void Deflate(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      if (::deflate(&stream_, flush) == Z_STREAM_ERROR) throw std::logic_error("deflate");
      file_.Write({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  AtomicFile& file_;
  std::vector<char> out_;
  z_stream stream_ = {};
};

TextOutput::TextOutput(const std::filesystem::path& path) : file_(path) {
  if (path.extension() == ".gz") gzip_ = std::make_unique<Gzip>(file_);
}

TextOutput::~TextOutput() = default;

void TextOutput::Write(std::string_view bytes) {
  if (gzip_ == nullptr) {
    file_.Write(bytes);
  } else {
    gzip_->Write(bytes);
  }
}

void TextOutput::Commit() {
  if (gzip_ != nullptr) gzip_->Finish();
  file_.Commit();
}

}  // namespace tandem::data
