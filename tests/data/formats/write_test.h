// A fixture for tests that write data sets.
#pragma once

#include <algorithm>
#include <vector>

#include "data/data_test.h"
#include "data/formats/dataset_writer.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"

namespace tandem::data {

class WriteDatasetTest : public testing::Test {
 protected:
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }

  Dataset Read(const std::string& name, std::string_view bytes) {
    WriteFileAtomically(Path(name), bytes);
    return ReadDataset(Path(name), "auto", "train", &warnings_);
  }
  Dataset ReadBeir() { return ReadDataset(beir_.path(), "beir", "test", &warnings_); }

  // The lines that `format` makes of a data set.
  std::string Lines(const Dataset& dataset, std::string_view format,
                    const WriteOptions& options = {}) {
    std::filesystem::remove(Path("out.jsonl"));
    counts_ = WriteDataset(dataset, format, Path("out.jsonl"), options, &warnings_);
    return ReadFile(Path("out.jsonl"));
  }
  // What was counted, with the output's path as OUT.
  std::vector<std::string> Warned() const {
    std::vector<std::string> messages = warnings_.Messages();
    for (std::string& message : messages) {
      const std::string path = Path("out.jsonl").native();
      if (message.starts_with(path)) message = "OUT" + message.substr(path.size());
    }
    return messages;
  }
  std::string UsageErrorOf(const Dataset& dataset, std::string_view format,
                           const std::filesystem::path& output, const WriteOptions& options = {}) {
    try {
      WriteDataset(dataset, format, output, options, &warnings_);
    } catch (const UsageError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kUsage);
      return error.what();
    }
    return "no error";
  }
  // Names in the test's folder, hidden ones too.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().native());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
  BeirFolder beir_;
  Warnings warnings_;
  WriteCounts counts_;
};

}  // namespace tandem::data
