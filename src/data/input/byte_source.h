// Bytes of a file, plain or gzip-compressed, or of standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tandem::data {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` with up to `size` bytes and returns how many; 0 at the end. Throws DataError.
  virtual size_t Read(char* out, size_t size) = 0;
};

// "standard input" for "-", else the path.
std::string NameOfInput(const std::filesystem::path& path);

// Opens a plain or gzip file (told by its first bytes), or standard input for "-". Throws
// DataError, which names `file`, when it cannot be opened, is a folder, or is called .gz but is no
// gzip file.
std::unique_ptr<ByteSource> OpenBytes(const std::filesystem::path& path, const std::string& file);

// Gives `bytes`, which must outlive the source.
std::unique_ptr<ByteSource> BytesInMemory(std::string_view bytes);

// No text of a corpus is this long; a file without line ends must not fill the memory.
inline constexpr size_t kMaxLineBytes = size_t{1} << 28;
// Throws the DataError of a line that is longer.
[[noreturn]] void ThrowLongLine(const std::string& file, int64_t line);

}  // namespace tandem::data
