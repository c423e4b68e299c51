// A small model folder (small_model_folder.h) that a test changes and reads.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "weights/folders/model_folder.h"

namespace tandem::weights {

inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

class SmallModel : public testing::Test {
 protected:
  void SetUp() override { WriteSmallModel(path()); }
  const std::filesystem::path& path() const { return folder_.path(); }
  ModelFolder Read() const { return ReadModelFolder(path()); }
  void Write(const std::string& file, std::string_view text) { WriteText(path() / file, text); }
  void Remove(const std::string& file) { std::filesystem::remove_all(path() / file); }
  void ExpectBroken(const std::vector<std::string>& texts) const {
    ExpectError([&] { Read(); }, ExitCode::kModel, texts);
  }
  void ExpectBrokenConfig(const std::string& from, const std::string& to,
                          std::vector<std::string> texts) {
    Write("config.json", Replaced(kSmallConfig, from, to));
    texts.push_back("config.json");
    ExpectBroken(texts);
  }
  void ExpectBrokenModules(const std::string& from, const std::string& to,
                           std::vector<std::string> texts) {
    Write("modules.json", Replaced(kSmallModules, from, to));
    texts.push_back("modules.json");
    ExpectBroken(texts);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tandem::weights
