// A file that may take several processes to write.
//
//   PartFile file("x.bin");
//   file.CutTo(kept);     // of what an earlier process has written; 0: begin anew
//   file.Append(bytes);
//   file.Commit();        // x.bin.part becomes x.bin
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/files/file_parts.h"

namespace tandem::embeddings {

// Bytes go to NAME.part; NAME appears, or is replaced, in one step once they are complete. Whatever
// ends the process leaves NAME.part for the next one, unless it is empty. One process at a time has
// it (flock, which the kernel drops with the process; file systems without locks have no such
// guard). All functions throw OutputError.
class PartFile {
 public:
  // NAME.part.
  static std::filesystem::path PartOf(const std::filesystem::path& path);

  // Opens or makes NAME.part; what it holds stays. Throws UsageError where another process has it,
  // and OutputError also where NAME can be no file.
  explicit PartFile(std::filesystem::path path);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  int descriptor() const { return file_.number(); }
  const std::filesystem::path& part() const { return part_; }

  // Keeps the first `bytes` bytes, which must be there; Append goes on after them.
  void CutTo(uint64_t bytes);
  // Asks the file system for room up to `bytes` bytes, so that a disk that is too small shows
  // before the work. Does nothing where the file system takes no room ahead.
  void TakeRoom(uint64_t bytes);
  void Append(std::string_view bytes);
  // Overwrites bytes that are there.
  void WriteAt(uint64_t offset, std::string_view bytes);
  // Returns when all bytes have reached the disk.
  void Sync();
  // Flushes the file and gives it its name. Nothing else may be called then.
  void Commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path part_;
  FileDescriptor file_;

  uint64_t Size() const;
};

}  // namespace tandem::embeddings
