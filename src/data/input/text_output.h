// A text file that is written complete or not at all, plain or gzip-compressed.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/files/files.h"

namespace tandem::data {

// Writes a text file, compressed where the name ends in .gz. The same bytes make the same file.
// Throws OutputError, as AtomicFile does.
class TextOutput {
 public:
  explicit TextOutput(const std::filesystem::path& path);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();

  void Write(std::string_view bytes);
  // Puts the file in place. Without it the destructor removes what was written.
  void Commit();

 private:
  class Gzip;  // keeps zlib out of this header
  AtomicFile file_;
  std::unique_ptr<Gzip> gzip_;  // null: plain
};

}  // namespace tandem::data
