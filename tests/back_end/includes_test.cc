// libtorch is included by the back end alone: the program and its rooms compile without it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tandem {
namespace {

namespace fs = std::filesystem;

bool IsOfLibtorch(std::string_view line) {
  for (const std::string_view folder : {"ATen/", "c10/", "caffe2/", "gloo/", "torch/"}) {
    if (line.starts_with("#include <" + std::string(folder))) return true;
  }
  return false;
}

// The lines of a source that include libtorch.
int IncludesOfLibtorch(const fs::path& source) {
  std::ifstream file(source);
  int count = 0;
  for (std::string line; std::getline(file, line);) count += IsOfLibtorch(line) ? 1 : 0;
  return count;
}

TEST(Includes, OnlyTheBackEndIncludesLibtorch) {
  const fs::path sources = fs::path(TANDEM_SOURCE_DIR) / "src";
  int of_back_end = 0, read = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(sources)) {
    const fs::path extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    ++read;
    const int includes = IncludesOfLibtorch(entry.path());
    if (fs::relative(entry.path(), sources).begin()->native() == "libtorch") {
      of_back_end += includes;
    } else {
      EXPECT_EQ(includes, 0) << entry.path();
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(of_back_end, 20);  // else this test would not see them
}

}  // namespace
}  // namespace tandem
