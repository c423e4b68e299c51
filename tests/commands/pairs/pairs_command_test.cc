// `tandem pairs` on small folders, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "data/formats/beir.h"
#include "data/read_dataset.h"
#include "support/files_of.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class PairsCommand : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, std::string_view bytes) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    WriteFileAtomically(Path(name), bytes);
  }
  // Two pages that differ, with titles, first sentences and headings.
  void WritePages() const {
    Write(
        "docs/a.md",
        "# Alpha beta\n\nThe red file is fast. A slow green server keeps music and photo files.\n\n"
        "## Blue graph editor\n\nA game of gamma and delta, red and green, fast and slow.\n");
    Write("docs/b.md",
          "# Music server\n\nPhotos of games are blue. The editor of a graph is slow where files "
          "are many.\n");
  }
  ProgramResult Pairs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"pairs", Path("docs")});
    return RunTandem(arguments);
  }
  std::vector<nlohmann::json> Lines(const std::string& name) const {
    std::istringstream file(ReadFile(Path(name)));
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  void ExpectRefused(const std::vector<std::string>& arguments, int code,
                     const std::string& words) const {
    const ProgramResult result = Pairs(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_FALSE(fs::exists(Path("out")));
  }

  TemporaryFolder folder_;
};

TEST_F(PairsCommand, WritesWhatTrainingReads) {
  WritePages();
  const ProgramResult result = Pairs({"-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 documents: 5 pairs of 5 queries and 3 texts"));
  EXPECT_THAT(result.err, HasSubstr("wrote "));
  data::Warnings warnings;
  const data::Dataset dataset = data::LoadBeir(Path("out"), "train", &warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(dataset.judged.size(), 5U);
  const auto text = dataset.documents.Find("a.md#2");
  ASSERT_TRUE(text);
  EXPECT_EQ(dataset.documents.text(*text),
            "A game of gamma and delta, red and green, fast and slow.");
}

TEST_F(PairsCommand, TheSameSeedMakesTheSameBytes) {
  WritePages();
  ASSERT_EQ(Pairs({"-o", Path("one"), "--per-document", "1"}).exit_code, 0);
  ASSERT_EQ(Pairs({"-o", Path("two"), "--per-document", "1"}).exit_code, 0);
  EXPECT_EQ(FilesOf(Path("one")), FilesOf(Path("two")));
  ASSERT_EQ(Pairs({"-o", Path("all")}).exit_code, 0);
  EXPECT_NE(FilesOf(Path("one")), FilesOf(Path("all")));
}

TEST_F(PairsCommand, ADryRunShowsExamplesAndWritesNothing) {
  WritePages();
  const ProgramResult result = Pairs({"--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("heading: Blue graph editor\n    -> a.md#2: A game of gamma"));
  const auto json = nlohmann::json::parse(Pairs({"--dry-run", "--format", "json"}).out);
  EXPECT_EQ(json["pairs"], 5);
  EXPECT_EQ(json["examples"].size(), 5U);
  EXPECT_EQ(json["sources"][0]["name"], "title");
  EXPECT_EQ(json["sources"][0]["kept"], 2);
  EXPECT_EQ(FilesOf(folder_.path()).size(), 2U);  // the pages
}

// Other sources have taken the texts that the headings with questions have.
TEST_F(PairsCommand, ExplainsNearCopiesWhereTheyAreMost) {
  WritePages();
  const std::string words =
      "near-copies: a text that is nearly one of an earlier pair, as most of ";
  EXPECT_THAT(Pairs({"--dry-run"}).out, testing::Not(HasSubstr(words)));
  for (const std::string page : {"c", "d", "e"}) {
    Write("docs/" + page + ".md",
          "# Page " + page + "\n\nThe first " + page +
              " sentence says what it is about, for all.\n\n## How do I wash the " + page +
              " ones?\n\nWash the " + page +
              " ones by hand in cold water with a little soap, and dry them flat on a towel in the "
              "shade.\n");
  }
  EXPECT_THAT(Pairs({"--dry-run"}).out, HasSubstr(words + "question are here, is kept once."));
  EXPECT_THAT(Pairs({"--dry-run"}).out, HasSubstr("--sources question alone keeps its own\n"));
}

TEST_F(PairsCommand, CutsDocumentsIntoPassagesOfTheModelsTokens) {
  WritePages();
  WriteTinyModel(Path("model"));
  const ProgramResult result = Pairs(
      {"--corpus-only", "--model", Path("model"), "--passage-tokens", "30", "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = Lines("out/corpus.jsonl");
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0]["_id"], "a.md#1");
  EXPECT_EQ(lines[1]["_id"], "a.md#2");
  std::string inputs;
  for (const auto& line : lines) {
    const std::string title = line["title"], text = line["text"];
    std::string one_line = title + " " + text;
    for (char& c : one_line) c = c == '\n' ? ' ' : c;
    inputs += one_line + "\n";
  }
  const ProgramResult ids =
      RunTandem({"tokenize", "--model", Path("model"), "--max-length", "0"}, inputs);
  ASSERT_EQ(ids.exit_code, 0) << ids.err;
  std::istringstream tokenized(ids.out);
  size_t most = 0;
  for (std::string line; std::getline(tokenized, line);) {
    most =
        std::max<size_t>(most, 1 + static_cast<size_t>(std::count(line.begin(), line.end(), ' ')));
  }
  EXPECT_LE(most, 30U);
  EXPECT_GT(most, 15U);
}

TEST_F(PairsCommand, ACorpusHasWholeDocumentsWithoutPassages) {
  WritePages();
  Write("docs/empty.md", "\n");
  const ProgramResult result = Pairs({"--corpus-only", "-o", Path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "2 documents; without title and text, left out: 1\n");
  const auto lines = Lines("out/corpus.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1]["_id"], "b.md");
  EXPECT_EQ(lines[1]["title"], "Music server");
  EXPECT_EQ(FilesOf(Path("out")).size(), 1U);
}

// With as many results as there are texts everything is found; of one result some pairs are not.
TEST_F(PairsCommand, TheRoundTripKeepsWhatTheModelFinds) {
  WritePages();
  WriteTinyModel(Path("model"));
  const auto run = [&](const std::string& depth) {
    const ProgramResult result = Pairs({"--dry-run", "--format", "json", "--no-cache", "--model",
                                        Path("model"), "--round-trip", depth});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  EXPECT_EQ(run("3")["pairs"], 5);
  const auto strict = run("1");
  size_t kept = 0, not_found = 0;
  for (const auto& source : strict["sources"]) {
    kept += source["kept"].get<size_t>();
    not_found += source["not_found"].get<size_t>();
  }
  EXPECT_EQ(kept, strict["pairs"]);
  EXPECT_EQ(kept + not_found, 5U);
  EXPECT_GT(not_found, 0U);
}

TEST_F(PairsCommand, NoPairsSayWhichSourcesWouldDo) {
  Write("docs/corpus.jsonl",
        "{\"_id\": \"d1\", \"text\": \"One two three four five. Six seven eight nine ten eleven "
        "twelve thirteen.\"}\n");
  ExpectRefused({"--sources", "title", "-o", Path("out")}, 2,
                "there are no pairs in 1 documents: title found 0; sources that find some here: "
                "first_sentence (1)");
}

TEST_F(PairsCommand, HeadingsAloneMakeNoPairs) {
  Write("docs/a.md", "# One\n\n## Two\n\n## Three\n");
  ExpectRefused({"-o", Path("out")}, 2,
                "there are no pairs in 1 documents: title found 1 (too short 1)");
}

TEST_F(PairsCommand, RefusesWhatItCannotRead) {
  Write("docs/scan.pdf", "%PDF-1.4");
  ExpectRefused({"-o", Path("out")}, 3, "`pdftotext FILE.pdf FILE.txt`");
  fs::remove(Path("docs/scan.pdf"));
  ExpectRefused({"-o", Path("out")}, 3, "holds no documents");
  Write("docs/a.md", "M\xFCnchen\n");
  ExpectRefused({"--corpus-only", "-o", Path("out")}, 3, "a.md:1: is not UTF-8");
}

TEST_F(PairsCommand, RefusesFlagsThatDoNotGoTogether) {
  WritePages();
  ExpectRefused({}, 2, "--output is required, or --dry-run");
  ExpectRefused({"-o", Path("out"), "--dry-run"}, 2, "--dry-run writes nothing");
  ExpectRefused({"-o", Path("out"), "--passage-tokens", "64"}, 2, "name its folder with --model");
  ExpectRefused({"-o", Path("out"), "--round-trip", "5"}, 2, "name its folder with --model");
  ExpectRefused({"-o", Path("out"), "--model", "m"}, 2, "--model does nothing without");
  ExpectRefused({"-o", Path("out"), "--corpus-only", "--sources", "title"}, 2,
                "--corpus-only makes no pairs; it excludes --sources");
  ExpectRefused({"-o", Path("out"), "--sources", "titel"}, 2, "did you mean title?");
  WriteTinyModel(Path("model"));
  ExpectRefused(
      {"--corpus-only", "-o", Path("out"), "--model", Path("model"), "--passage-tokens", "5"}, 2,
      "special tokens and the prompt take 2; give at least 10");
  ExpectRefused(
      {"--corpus-only", "-o", Path("out"), "--model", Path("model"), "--passage-tokens", "65"}, 2,
      "reads 64 tokens of a document; give at most that");
  Write("there/x", "");
  const ProgramResult result = Pairs({"-o", Path("there")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("exists"));
}

}  // namespace
}  // namespace tandem
