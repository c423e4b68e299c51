#include "train/observers/line_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/json/json.h"

namespace tandem::train {

LineLog::LineLog(std::filesystem::path path, std::optional<uint64_t> keep_bytes)
    : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw OutputError(path_.native(), "cannot be opened", errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    throw OutputError(path_.native(), "cannot be read", errno);
  }
  bytes_ = static_cast<uint64_t>(status.st_size);
  if (!keep_bytes) return;
  if (bytes_ < *keep_bytes) {
    throw ModelError(path_.native(), "",
                     fmt::format("has {} bytes, but the checkpoint was made when it had {}; it was "
                                 "changed, and the run cannot be continued",
                                 bytes_, *keep_bytes));
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(*keep_bytes)) != 0) {
    throw OutputError(path_.native(), "cannot be cut back", errno);
  }
  bytes_ = *keep_bytes;
}

LineLog::~LineLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineLog::Write(const Json& line) { Append(line.Dump() + "\n"); }

void LineLog::Append(std::string_view bytes) {
  if (!WriteAll(descriptor_, bytes)) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
  bytes_ += bytes.size();
}

void LineLog::Sync() {
  if (::fsync(descriptor_) != 0) throw OutputError(path_.native(), "cannot be written", errno);
}

}  // namespace tandem::train
