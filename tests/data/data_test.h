// Helpers for tests of readers: files from literals, errors as text.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/dataset_builder.h"
#include "data/lines/line_rules.h"
#include "data/warnings.h"
#include "support/temporary_folder.h"

namespace tandem::data {

// Runs `body`, which must throw an Error with the exit code of data, and returns its message.
template <typename Body>
std::string DataErrorOf(const Body& body) {
  try {
    body();
  } catch (const DataError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kData);
    return error.what();
  }
  return "no error";
}

// A reader of training lines, given the bytes of a file that it knows as f.jsonl.
template <void (*kReader)(LineReader&, const LineRules&, ExampleSink&)>
class TrainingLinesTest : public testing::Test {
 protected:
  static Dataset Read(std::string_view bytes, Warnings& warnings, const LineRules& rules = {}) {
    LineReader reader("f.jsonl", bytes, warnings);
    DatasetBuilder builder(reader);
    kReader(reader, rules, builder);
    return builder.Take();
  }
  static Dataset Read(std::string_view bytes, const LineRules& rules = {}) {
    Warnings warnings;
    return Read(bytes, warnings, rules);
  }
  static std::string ErrorOf(std::string_view bytes, const LineRules& rules = {}) {
    return DataErrorOf([&] { Read(bytes, rules); });
  }
};

// Gives "TEXT=GRADE@LINE" or "TEXT=GRADE/SCORE@LINE" for every judged document of a query.
inline std::string JudgedTexts(const Dataset& dataset, size_t query) {
  std::string all;
  for (const Judgement& judgement : dataset.judged.at(query).judgements) {
    all += fmt::format("{}{}={}{}@{}", all.empty() ? "" : " ",
                       dataset.documents.text(judgement.document), judgement.grade,
                       judgement.has_score() ? fmt::format("/{}", judgement.score) : "",
                       judgement.line);
  }
  return all;
}

inline void WriteGzip(const std::filesystem::path& path, std::string_view bytes) {
  const gzFile file = ::gzopen(path.c_str(), "wb");
  ASSERT_EQ(::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  ASSERT_EQ(::gzclose(file), Z_OK);
}

// A small BEIR folder whose files a test replaces one by one.
class BeirFolder {
 public:
  BeirFolder() {
    MakeFolder(path() / "qrels");
    Write("corpus.jsonl", R"({"_id": "d1", "title": "Title", "text": "first document"}
{"_id": "d2", "title": "", "text": "second document"}
{"_id": "d3", "text": "third"}
)");
    Write("queries.jsonl", R"({"_id": "q1", "text": "one", "metadata": {"a": [1, {}]}}
{"_id": "q2", "text": "two"}
)");
    Write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t2\nq1\td3\t1\nq2\td2\t0\n");
  }

  void Write(const std::string& name, std::string_view text) {
    WriteFileAtomically(path() / name, text);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace tandem::data
