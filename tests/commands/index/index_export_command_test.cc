// `tandem index export` as a user calls it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

// An index of d0 to d9 and n0 to n4, in two segments, of which d3 and n1 were removed.
class IndexExportTest : public testing::Test {
 protected:
  IndexExportTest() {
    WriteTinyModel(folder_.path() / "model");
    WriteDocuments("d", 10);
    WriteDocuments("n", 5);
    Succeeds({"build", Path("model"), Path("d"), "--output", Path("index"), "--kind", "fp32",
              "--field", "year:number"});
    Succeeds({"add", Path("index"), Path("n")});
    Succeeds({"remove", Path("index"), "--id", "d3", "--id", "n1"});
  }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }

  void WriteDocuments(const std::string& name, size_t count) const {
    std::string lines;
    const std::vector<std::string> words = TinyWords();
    for (size_t i = 0; i < count; ++i) {
      lines += fmt::format("{{\"_id\": \"{}{}\", \"text\": \"{}\", \"year\": {}}}\n", name, i,
                           words[i % words.size()], i % 2 == 0 ? "null" : std::to_string(i));
    }
    WriteFileAtomically(Path(name), lines);
  }

  static ProgramResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "index");
    return RunTandem(arguments);
  }
  static ProgramResult Succeeds(const std::vector<std::string>& arguments) {
    ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  }
  ProgramResult Export(const std::string& to, const std::string& output,
                       std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"export", Path("index"), "--to", to, "--output", output});
    return Run(more);
  }
  std::vector<nlohmann::json> Lines() const {
    std::vector<nlohmann::json> lines;
    std::string out = Export("jsonl", "-").out;
    for (size_t end; (end = out.find('\n')) != out.npos; out.erase(0, end + 1)) {
      lines.push_back(nlohmann::json::parse(out.substr(0, end)));
    }
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(IndexExportTest, LinesAreTheEmbeddingsOfTheDocumentsThatAreLeft) {
  const std::vector<nlohmann::json> lines = Lines();
  std::string ids;
  for (const nlohmann::json& line : lines) ids += line["id"].get<std::string>() + " ";
  EXPECT_EQ(ids, "d0 d1 d2 d4 d5 d6 d7 d8 d9 n0 n2 n3 n4 ");
  EXPECT_EQ(lines[1]["year"], 1);
  EXPECT_TRUE(lines[0]["year"].is_null());
  EXPECT_FALSE(lines[0].contains("text"));
  const ProgramResult encoded =
      RunTandem({"encode", Path("model"), Path("d"), "--format", "jsonl", "--output", "-"});
  ASSERT_EQ(encoded.exit_code, 0) << encoded.err;
  const auto first = nlohmann::json::parse(encoded.out.substr(0, encoded.out.find('\n')));
  EXPECT_EQ(first["embedding"].size(), lines[0]["embedding"].size());
  for (size_t i = 0; i < first["embedding"].size(); ++i) {
    EXPECT_NEAR(first["embedding"][i], lines[0]["embedding"][i], 1e-6);
  }
  const ProgramResult with_texts = Export("jsonl", Path("out.jsonl"), {"--with-texts"});
  ASSERT_EQ(with_texts.exit_code, 0) << with_texts.err;
  EXPECT_THAT(with_texts.err, HasSubstr("13 documents -> " + Path("out.jsonl")));
  EXPECT_THAT(ReadFile(Path("out.jsonl")), HasSubstr("\"text\":\"" + TinyWords()[0] + "\""));
}

TEST_F(IndexExportTest, AFileOfFaissHasItsHeaderAndTheRows) {
  const ProgramResult made = Export("faiss", Path("mine.faiss"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("the id of row i is line i, from 0, of " + Path("mine.ids.txt")));
  EXPECT_EQ(ReadFile(Path("mine.ids.txt")), "d0\nd1\nd2\nd4\nd5\nd6\nd7\nd8\nd9\nn0\nn2\nn3\nn4\n");
  const std::string bytes = ReadFile(Path("mine.faiss"));
  const std::vector<nlohmann::json> lines = Lines();
  const size_t width = lines[0]["embedding"].size(), header = 45;
  ASSERT_EQ(bytes.size(), header + 13 * width * sizeof(float));
  EXPECT_EQ(bytes.substr(0, 4), "IxFI");
  for (size_t row = 0; row < 13; ++row) {
    for (size_t i = 0; i < width; ++i) {
      float value = 0;
      std::memcpy(&value, bytes.data() + header + (row * width + i) * sizeof(float), sizeof(value));
      EXPECT_EQ(value, lines[row]["embedding"][i].get<float>());
    }
  }
}

TEST_F(IndexExportTest, RowsForCopySayTheirTable) {
  const ProgramResult made = Export("pgvector", Path("mine.copy"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("CREATE TABLE documents (id text PRIMARY KEY, embedding "
                                  "vector(32), \"year\" double precision); \\copy documents "
                                  "FROM '" +
                                  Path("mine.copy") + "' (ENCODING utf8)"));
  const std::string rows = ReadFile(Path("mine.copy"));
  EXPECT_TRUE(rows.starts_with("d0\t[")) << rows.substr(0, 20);
  EXPECT_THAT(rows, HasSubstr("]\t\\N\nd1\t["));
}

TEST_F(IndexExportTest, ErrorsNameWhatIsWrong) {
  const auto expect = [](const ProgramResult& result, int code, const std::string& words) {
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
  };
  expect(Export("parquet", Path("x.parquet")), 2, "the tandem of the Python package writes");
  expect(Export("csv", Path("x")), 2, "faiss, jsonl, parquet or pgvector");
  expect(Export("faiss", "-"), 2, "--to faiss writes two files");
  expect(Export("faiss", Path("x"), {"--with-texts"}), 2, "FAISS keeps vectors alone");
  WriteFileAtomically(Path("there.ids.txt"), "x");
  expect(Export("faiss", Path("there.faiss")), 2, "there.ids.txt is there already");
  EXPECT_FALSE(std::filesystem::exists(Path("there.faiss")));
  expect(Export("faiss", Path("there.faiss"), {"--force"}), 0, "13 documents");
  expect(Run({"export", Path("model"), "--to", "jsonl", "--output", "-"}), 3, Path("model"));
  const std::string vectors = Path("index/segment-000001/vectors.f32");
  std::string altered = ReadFile(vectors);
  altered[5] ^= 1;
  WriteFileAtomically(vectors, altered);
  expect(Export("jsonl", Path("out.jsonl")), 3, "vectors.f32");
  EXPECT_FALSE(std::filesystem::exists(Path("out.jsonl")));
}

}  // namespace
}  // namespace tandem::index
