// A file that grows during a run: metrics.jsonl, timing.jsonl, or a record in sampling/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/json/json.h"

namespace tandem::train {

class LineLog {
 public:
  // Opens the file for appending, and makes it if it is missing. With `keep_bytes`, it is first cut
  // back to that length. Throws OutputError, and ModelError if the file is shorter than
  // `keep_bytes`.
  LineLog(std::filesystem::path path, std::optional<uint64_t> keep_bytes);
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;
  ~LineLog();

  // Appends one line in one write. Throws OutputError.
  void Write(const Json& line);
  // Appends bytes as they are. Throws OutputError.
  void Append(std::string_view bytes);
  // Flushes to the disk.
  void Sync();
  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace tandem::train
