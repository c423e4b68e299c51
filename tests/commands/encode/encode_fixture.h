// `tandem encode` on a small model: what its tests share.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {

// While one is alive, no file of this process and its children can grow beyond `bytes`: it stands
// for a full disk, since a write fails in the same way.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class EncodeCommandTest : public testing::Test {
 protected:
  EncodeCommandTest() { WriteTinyModel(folder_.path() / "model"); }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }

  static std::string TextOf(size_t number) {
    const std::vector<std::string> words = TinyWords();
    std::string text;
    for (size_t i = 0; i <= number % 9; ++i) {
      text += (i == 0 ? "" : " ") + words[(number * 7 + i * i) % words.size()];
    }
    return text;
  }
  // Lines of texts d<first> to d<end - 1>.
  static std::string Lines(size_t first, size_t end) {
    std::string lines;
    for (size_t i = first; i < end; ++i) {
      lines += fmt::format("{{\"_id\": \"d{}\", \"text\": \"{}\"}}\n", i, TextOf(i));
    }
    return lines;
  }

  // `tandem encode MODEL ARGUMENTS`. With --threads, since the bytes depend on their number.
  std::vector<std::string> Arguments(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"encode", Path("model")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--threads", "2"});
    return all;
  }
  ProgramResult Encode(const std::vector<std::string>& arguments,
                       const std::string& standard_input = "") const {
    return RunTandem(Arguments(arguments), standard_input);
  }

  // Names and bytes of a folder's files.
  std::map<std::string, std::string> FilesOf(const std::string& name) const {
    std::map<std::string, std::string> files;
    std::error_code ignored;  // there may be no such folder
    for (const auto& entry : std::filesystem::directory_iterator(Path(name), ignored)) {
      files[entry.path().filename().native()] = ReadFile(entry.path());
    }
    return files;
  }

  TemporaryFolder folder_;
};

}  // namespace tandem
