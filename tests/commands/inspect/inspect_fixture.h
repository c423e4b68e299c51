// `tandem inspect` on files that a test writes into a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/run_tandem.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"

namespace tandem {

class InspectCommand : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    weights::WriteText(Path(name), text);
  }
  ProgramResult Inspect(const std::string& name, const std::string& format = "text") const {
    return RunTandem({"inspect", Path(name), "--format", format});
  }
  // A vocabulary of `tokens` tokens for the small model, whose word embeddings have 32 rows.
  void WriteVocabulary(int tokens) const {
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
    for (int i = 4; i < tokens; ++i) lines += "w" + std::to_string(i) + "\n";
    Write("model/vocab.txt", lines);
  }
  void WriteModel() const {
    weights::WriteSmallModel(Path("model"));
    WriteVocabulary(32);
  }
  void ExpectError(const std::string& name, int exit_code, const std::string& message) const {
    const ProgramResult result = Inspect(name);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: " + Path(name) + message + "\n");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tandem
