#include "back_end/library_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::back_end {
namespace {

using Kind = LibraryFile::Kind;

class LibraryFileTest : public testing::Test {
 protected:
  LibraryFile LookAt(std::string_view bytes) const {
    const std::filesystem::path path = folder_.path() / "library.so";
    std::ofstream(path) << bytes;
    return LookAtLibrary(path);
  }

  static Elf64_Ehdr HeaderOf(std::string_view library) {
    Elf64_Ehdr header = {};
    std::memcpy(&header, library.data(), sizeof header);
    return header;
  }

  static std::string With(const Elf64_Ehdr& header, std::string library) {
    std::memcpy(library.data(), &header, sizeof header);
    return library;
  }

  const std::string library_ = ReadFile(TANDEM_TEST_LIBRARIES "/libcounts_uses.so");
  TemporaryFolder folder_;
};

TEST_F(LibraryFileTest, KnowsWhatIsNoLibrary) {
  EXPECT_EQ(LookAtLibrary(folder_.path() / "none").kind, Kind::kNotThere);
  EXPECT_EQ(LookAtLibrary(folder_.path()).kind, Kind::kNoLibrary);
  EXPECT_EQ(LookAtLibrary("/dev/null").kind, Kind::kNoLibrary);
  for (const std::string& bytes : {std::string(), std::string("a text"), std::string(5000, '\0')}) {
    EXPECT_EQ(LookAt(bytes).kind, Kind::kNoLibrary) << bytes.size();
  }
}

TEST_F(LibraryFileTest, KnowsWhereOneIsCutShort) {
  EXPECT_EQ(LookAt(library_).kind, Kind::kLibrary);
  for (const size_t bytes :
       {size_t{4}, size_t{63}, size_t{64}, size_t{200}, library_.size() / 2, library_.size() - 1}) {
    const LibraryFile file = LookAt(library_.substr(0, bytes));
    EXPECT_EQ(file.kind, Kind::kCutShort) << bytes;
    EXPECT_EQ(file.bytes, bytes);
    EXPECT_EQ(file.whole_bytes, bytes < 64 ? 64 : library_.size());
  }
}

// A library may have no section headers.
TEST_F(LibraryFileTest, LooksAtSegmentsToo) {
  Elf64_Ehdr header = HeaderOf(library_);
  header.e_shoff = 0;
  header.e_shnum = 0;
  const std::string stripped = With(header, library_);
  EXPECT_EQ(LookAt(stripped).kind, Kind::kLibrary);
  EXPECT_EQ(LookAt(stripped.substr(0, 1000)).kind, Kind::kCutShort);
}

TEST_F(LibraryFileTest, AnyNumbersOfADamagedHeaderAreTooMany) {
  Elf64_Ehdr header = HeaderOf(library_);
  header.e_shoff = ~Elf64_Off{0} - 3;
  EXPECT_EQ(LookAt(With(header, library_)).kind, Kind::kCutShort);
  header = HeaderOf(library_);
  header.e_phoff = ~Elf64_Off{0} - 3;
  EXPECT_EQ(LookAt(With(header, library_)).kind, Kind::kCutShort);
}

TEST_F(LibraryFileTest, LeavesThoseOfOtherMachinesToTheLinker) {
  std::string other = library_.substr(0, 100);
  other[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(LookAt(other).kind, Kind::kLibrary);
}

}  // namespace
}  // namespace tandem::back_end
