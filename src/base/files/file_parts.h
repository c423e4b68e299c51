// Open files: who closes them, and their parts, read and written where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

namespace tandem {

// Closes what `open` has returned; below 0: nothing is open. Move-only.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  int number() const { return number_; }

 private:
  int number_;
};

// Reads exactly `size` bytes from `offset`; false where the file ends before, or cannot be read.
bool ReadPart(int descriptor, uint64_t offset, void* to, size_t size);

// Writes them all. False, with errno, where they cannot be written.
bool WritePart(int descriptor, uint64_t offset, const void* from, size_t size);

// Writes where the file stands, or at its end if it was opened for appending.
bool WriteAll(int descriptor, std::string_view bytes);

// Says whether both mean the same file, which ends once another process has put one in its place.
bool IsStillAt(int descriptor, const std::filesystem::path& path);

}  // namespace tandem
