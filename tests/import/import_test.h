// Helpers for tests of `import`: files from literals, errors as text.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::import_data {

// Runs `body`, which must throw an Error with this exit code, and returns its message.
template <typename Body>
std::string ErrorOf(ExitCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

class FilesTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  std::string Write(const std::string& name, std::string_view bytes) const {
    WriteFileAtomically(Path(name), bytes);
    return Path(name);
  }
  std::string Read(const std::string& name) const { return ReadFile(Path(name)); }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

 private:
  TemporaryFolder folder_;
};

}  // namespace tandem::import_data
