// encode, search and evaluate --model on a small model and data set: what their tests share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "embeddings/layouts/npy.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {

class ModelCommandsTest : public testing::Test {
 protected:
  ModelCommandsTest() {
    WriteTinyModel(folder_.path() / "model");
    WriteTinyData(folder_.path() / "data", TinyWords());
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  ProgramResult Encode(const std::string& input, const std::vector<std::string>& more = {},
                       const std::string& standard_input = "") const {
    std::vector<std::string> arguments = {"encode", "--model",  Path("model"),      "--input",
                                          input,    "--output", Path("embeddings"), "--quiet"};
    const auto resumes = [](const std::string& flag) { return flag == "--resume"; };
    if (std::none_of(more.begin(), more.end(), resumes)) arguments.push_back("--force");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments, standard_input);
  }
  ProgramResult Search(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"search",    "--model",    Path("model"),
                                          "--dataset", Path("data"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  ProgramResult Evaluate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"evaluate",  "--model",    Path("model"),
                                          "--dataset", Path("data"), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  embeddings::MappedRows Embeddings() const {
    return embeddings::ReadNpy(Path("embeddings/embeddings.npy"));
  }

  TemporaryFolder folder_;
};

}  // namespace tandem
