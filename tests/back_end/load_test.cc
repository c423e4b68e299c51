#include "back_end/load.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "back_end/table.h"
#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/back_end/missing_back_end.h"

namespace tandem::back_end {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kMend = "mend TANDEM_BACK_END or install tandem-torch anew";

// The libraries of this folder, as CMakeLists.txt names them.
std::string Library(const std::string& name) { return TANDEM_TEST_LIBRARIES "/lib" + name + ".so"; }

class LoadPlugInTest : public testing::Test {
 protected:
  ~LoadPlugInTest() override { ::unsetenv("TANDEM_BACK_END"); }

  static std::string ErrorFor(const std::string& path) {
    ::setenv("TANDEM_BACK_END", path.c_str(), 1);
    try {
      LoadPlugIn();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }
};

// The tests' folder has none beside their programs.
TEST_F(LoadPlugInTest, SaysWhatBringsOneThatIsNotThere) {
  ::setenv("TANDEM_BACK_END", "", 1);
  EXPECT_FALSE(FindPlugIn().has_value());
  EXPECT_THAT(ErrorFor(""), AllOf(HasSubstr("libtandem-torch.so"), HasSubstr("tandem-torch"),
                                  HasSubstr("-DTANDEM_WITH_TORCH=ON"),
                                  HasSubstr("for GPUs with -DTANDEM_WITH_CUDA=ON")));
}

TEST_F(LoadPlugInTest, SaysWhatIsMissedToWhoNeedsOneOfAKind) {
  const std::string nowhere = "/no/such/libtandem-torch.so";
  for (const std::string& path : {std::string(), nowhere}) {
    ::setenv("TANDEM_BACK_END", path.c_str(), 1);
    try {
      LoadPlugIn();
      FAIL() << path;
    } catch (const tensor::MissingBackEnd& error) {
      EXPECT_THAT(error.missed(), path.empty() ? StartsWith("libtandem-torch.so is neither in /")
                                               : StartsWith("TANDEM_BACK_END names " + nowhere));
      EXPECT_THAT(error.missed(), Not(HasSubstr("install")));
    }
  }
}

TEST_F(LoadPlugInTest, RefusesWhatCannotBeLoaded) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "libtandem-torch.so";
  EXPECT_EQ(ErrorFor(path), "TANDEM_BACK_END names " + path + ", which is not there: " + kMend);
  for (const char* content : {"", "no library",
                              "\x7f"
                              "EL"}) {
    std::ofstream(path) << content;
    EXPECT_EQ(ErrorFor(path), path + ": is no shared library: " + kMend) << content;
  }
  EXPECT_EQ(ErrorFor(folder.path()), folder.path().native() + ": is no shared library: " + kMend);
}

// Half a library would end this process by SIGBUS.
TEST_F(LoadPlugInTest, RefusesOneThatIsCutShort) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "libtandem-torch.so";
  std::filesystem::copy_file(Library("counts_uses"), path);
  const auto whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, whole / 2);
  EXPECT_EQ(ErrorFor(path), path + ": is cut short (" + std::to_string(whole / 2) + " of " +
                                std::to_string(whole) + " bytes): install tandem-torch anew");
}

// The dynamic linker's reason begins with the file's path.
TEST_F(LoadPlugInTest, NamesAFileThatTheLinkerRefusesOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "libtandem-torch.so";
  std::string bytes = ReadFile(Library("counts_uses"));
  bytes[EI_CLASS] = ELFCLASS32;
  std::ofstream(path) << bytes;
  const std::string error = ErrorFor(path);
  EXPECT_THAT(error, StartsWith(path + " cannot be loaded: wrong ELF class"));
  EXPECT_THAT(error, AllOf(HasSubstr(kMend), Not(HasSubstr("libtorch that"))));
  EXPECT_EQ(error.find(path, 1), std::string::npos) << error;
}

TEST_F(LoadPlugInTest, RefusesOneWhoseLibraryIsMissing) {
  EXPECT_THAT(ErrorFor(Library("needs_library")),
              AllOf(HasSubstr("cannot be loaded: libmissing_library.so: cannot open"),
                    HasSubstr("install the libtorch that it was built with"),
                    Not(HasSubstr("TANDEM_BACK_END"))));
}

TEST_F(LoadPlugInTest, RefusesOneOfAnotherBuild) {
  const std::string path = Library("undefined_symbol");
  EXPECT_THAT(ErrorFor(path),
              AllOf(StartsWith(path + " cannot be loaded: undefined symbol: TandemHasNoSuch"),
                    HasSubstr("another version of tandem"), Not(HasSubstr("TANDEM_BACK_END"))));
}

TEST_F(LoadPlugInTest, RefusesOneOfAnotherVersion) {
  EXPECT_THAT(ErrorFor(Library("another_version")),
              AllOf(HasSubstr("version " + std::to_string(kBackEndVersion + 1)),
                    HasSubstr("takes version " + std::to_string(kBackEndVersion))));
  EXPECT_THAT(ErrorFor(Library("another_release")),
              AllOf(HasSubstr("tandem 0.0.9"), HasSubstr("this is tandem " TANDEM_VERSION)));
  EXPECT_THAT(ErrorFor(Library("other_sources")),
              HasSubstr("built from different sources of tandem"));
}

TEST_F(LoadPlugInTest, RefusesALibraryThatIsNone) {
  EXPECT_THAT(ErrorFor(Library("without_entry")), HasSubstr("is no back end of Tandem"));
}

// What needs a back end loads it, by way of the loader.
TEST_F(LoadPlugInTest, LetsTheBackEndRegisterItself) {
  const std::string path = Library("counts_uses");
  ::setenv("TANDEM_BACK_END", path.c_str(), 1);
  UsePlugIn();
  EXPECT_EQ(tensor::LoadedBackEndFunctions(), nullptr);
  EXPECT_THROW(tensor::LoadBackEnd(), std::logic_error);  // it registers nothing
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto uses = reinterpret_cast<int (*)()>(::dlsym(library, "UsesOfBackEnd"));
  EXPECT_EQ(uses(), 1);
  tensor::SetBackEndLoader(nullptr);
}

}  // namespace
}  // namespace tandem::back_end
