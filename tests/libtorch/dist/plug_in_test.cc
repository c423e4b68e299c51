// The program and its plug-in, as they are installed: all that the plug-in takes of the program is
// there, and what the plug-in registers is what the program finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class PlugInTest : public testing::Test {
 protected:
  PlugInTest() { WriteTinyModel(folder_.path() / "model"); }

  std::string Path(const std::string& name) const { return folder_.path() / name; }

  ProgramResult Encode(const std::string& output,
                       const std::map<std::string, std::string>& environment) const {
    WriteFileAtomically(Path("texts.txt"), "one text\nanother text of a few words\n");
    return RunTandem({"encode", Path("model"), Path("texts.txt"), "--output", Path(output)}, "",
                     environment);
  }

  // The numbers of a .npy file of version 1.
  std::vector<float> Numbers(const std::string& name) const {
    const std::string bytes = ReadFile(Path(name));
    uint16_t header = 0;
    std::memcpy(&header, bytes.data() + 8, sizeof header);
    std::vector<float> numbers((bytes.size() - 10 - header) / sizeof(float));
    std::memcpy(numbers.data(), bytes.data() + 10 + header, numbers.size() * sizeof(float));
    return numbers;
  }

  TemporaryFolder folder_;
};

TEST_F(PlugInTest, ComputesWhatTheProgramComputes) {
  const ProgramResult own = Encode("own.npy", {});
  ASSERT_EQ(own.exit_code, 0) << own.err;
  const ProgramResult by_plug_in = Encode("plug_in.npy", {{"TANDEM_FORMS", "portable"}});
  ASSERT_EQ(by_plug_in.exit_code, 0) << by_plug_in.err;
  EXPECT_FALSE(Numbers("own.npy").empty());
  EXPECT_THAT(Numbers("plug_in.npy"), Pointwise(FloatNear(1e-5F), Numbers("own.npy")));
}

TEST_F(PlugInTest, TheProgramSaysWhereItIs) {
  const auto folder = std::filesystem::canonical(TANDEM_BINARY).parent_path();
  EXPECT_THAT(RunTandem({"version"}).out,
              HasSubstr("several processes: " + (folder / "libtandem-torch.so").native() + "\n"));
}

// A copy that was interrupted; loading it would end the program by SIGBUS.
TEST_F(PlugInTest, IsRefusedWhereItIsCutShort) {
  const auto plug_in =
      std::filesystem::canonical(TANDEM_BINARY).parent_path() / "libtandem-torch.so";
  const std::string half = Path("libtandem-torch.so");
  std::filesystem::copy_file(plug_in, half);
  std::filesystem::resize_file(half, std::filesystem::file_size(plug_in) / 2);
  const ProgramResult refused =
      Encode("none.npy", {{"TANDEM_BACK_END", half}, {"TANDEM_FORMS", "portable"}});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr(half + ": is cut short ("));
}

TEST_F(PlugInTest, IsMissedOnlyWhereItIsNeeded) {
  const std::string nowhere = Path("libtandem-torch.so");
  EXPECT_EQ(Encode("own.npy", {{"TANDEM_BACK_END", nowhere}, {"TANDEM_FORMS", ""}}).exit_code, 0);
  const ProgramResult missed =
      Encode("none.npy", {{"TANDEM_BACK_END", nowhere}, {"TANDEM_FORMS", "portable"}});
  EXPECT_EQ(missed.exit_code, 2);
  EXPECT_THAT(missed.err, HasSubstr("TANDEM_BACK_END names " + nowhere + ", which is not there"));
}

}  // namespace
}  // namespace tandem
