// Reading and writing files: whole, mapped, and atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

// The whole file as bytes. Throws DataError naming the path when it is missing, a folder, or
// cannot be read.
std::string ReadFile(const std::filesystem::path& path);

// A read-only memory map of a file; an empty file maps to an empty view. Move-only.
class MappedFile {
 public:
  // Throws DataError as ReadFile does.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Lets the system take back the memory of the parts that were read so far. A later read loads
  // them from the file again.
  void ReleasePages() const;

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Throws OutputError where `path` is a folder, pipe or device: what is renamed to it would take its
// place, were it /dev/null.
void CheckCanBeFile(const std::filesystem::path& path);

// "NAME" of "NAME.tmpPID", the name of a file that a process writes by AtomicFile; none for other
// names.
std::optional<std::string> NameOfUnfinished(std::string_view name);

// Removes NAME.tmpPID of files that a killed process was writing into `folder`, which the caller
// alone writes into. Other names stay, and so does what cannot be removed.
void RemoveUnfinishedFiles(const std::filesystem::path& folder);

// A file that appears under its name only when it is complete: bytes go to NAME.tmpPID beside it,
// `Commit` flushes it and renames it, the destructor of an uncommitted one removes it; the old file
// then stays. Throws OutputError; a path that can hold no file shows in the constructor already.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void Write(std::string_view bytes);
  // Overwrites bytes that were written before, such as a header whose numbers are known only at the
  // end.
  void WriteAt(size_t offset, std::string_view bytes);
  void Commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::string buffer_;
  void Flush();
};

// Writes `bytes` through an AtomicFile.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// Makes the names inside a folder durable. Throws OutputError.
void SyncFolder(const std::filesystem::path& folder);

// Makes `path` and its parents; fine when it exists as a folder. Throws OutputError.
void MakeFolder(const std::filesystem::path& path);

}  // namespace tandem
