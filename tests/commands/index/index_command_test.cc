// `tandem index` as a user calls it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/files/files.h"
#include "index/folder/index_folder.h"
#include "support/files_of.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

class IndexCommandTest : public testing::Test {
 protected:
  IndexCommandTest() { WriteTinyModel(folder_.path() / "model"); }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }

  // Documents d0 to dN-1 with a field.
  void WriteDocuments(const std::string& name, size_t count, size_t first = 0) const {
    std::string lines;
    const std::vector<std::string> words = TinyWords();
    for (size_t i = first; i < first + count; ++i) {
      lines += fmt::format("{{\"_id\": \"d{}\", \"text\": \"{} {}\", \"year\": {}}}\n", i,
                           words[i % words.size()], words[i / 7 % words.size()], 1990 + i % 30);
    }
    WriteFileAtomically(Path(name), lines);
  }

  ProgramResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "index");
    arguments.insert(arguments.end(), {"--threads", "2"});
    return RunTandem(arguments);
  }
  std::vector<std::string> BuildArguments(const std::string& documents) const {
    return {"build",  Path("model"), Path(documents), "--output",   Path("index"),
            "--kind", "fp32",        "--field",       "year:number"};
  }
  nlohmann::json Info() const {
    const ProgramResult result = Run({"info", Path("index"), "--verify", "--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  TemporaryFolder folder_;
};

TEST_F(IndexCommandTest, BuildsAddsRemovesAndCompacts) {
  WriteDocuments("a.jsonl", 40);
  const ProgramResult built = Run(BuildArguments("a.jsonl"));
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(Info()["documents"], 40);
  EXPECT_EQ(Info()["fields"][0]["name"], "year");
  const ProgramResult again = Run(BuildArguments("a.jsonl"));
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("is an index already; --replace builds it anew"));
  WriteDocuments("b.jsonl", 5, 38);
  const ProgramResult twice = Run({"add", Path("index"), Path("b.jsonl")});
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_THAT(twice.err, HasSubstr("b.jsonl:1: the index has a document with this id"));
  const ProgramResult added = Run({"add", Path("index"), Path("b.jsonl"), "--update"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.err, HasSubstr("2 took the place of ones with their id"));
  const ProgramResult missing = Run({"remove", Path("index"), "--id", "d1", "--id", "x"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("no document has this id"));
  WriteFileAtomically(Path("ids"),
                      "\xEF\xBB\xBF"
                      "d2\r\n");
  ASSERT_EQ(Run({"remove", Path("index"), "--ids", Path("ids")}).exit_code, 0);
  ASSERT_EQ(RunTandem({"index", "remove", Path("index"), "--ids", "-"}, "d1\n\n").exit_code, 0);
  EXPECT_EQ(Info()["documents"], 41);
  EXPECT_EQ(Info()["removed"], 4);
  EXPECT_EQ(Info()["segments"].size(), 2u);
  ASSERT_EQ(Run({"compact", Path("index")}).exit_code, 0);
  EXPECT_EQ(Info()["documents"], 41);
  EXPECT_EQ(Info()["removed"], 0);
  EXPECT_EQ(Info()["segments"].size(), 1u);
}

TEST_F(IndexCommandTest, RecallAndMemoryChooseAKindWhoseRecallIsMeasured) {
  WriteDocuments("a.jsonl", 2000);
  const auto build = [&](const std::string& recall) {
    return Run({"build", Path("model"), Path("a.jsonl"), "--output", Path("index"), "--recall",
                recall, "--memory", "35KiB"});
  };
  const ProgramResult nothing = build("1");  // float32 vectors take 250 KiB
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no kind of index finds 1 of the best 10 of 2000 documents "
                                     "with 32 numbers each in 35.0 KiB of memory; what can be "
                                     "had: fp32 finds all in 250.0 KiB, "));
  const ProgramResult built = build("0.9");
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(built.err, HasSubstr("ivf_flat (lists=125"));
  EXPECT_THAT(built.err, HasSubstr("with the effort that recall 0.9 is measured to take; "));
  EXPECT_THAT(built.err, HasSubstr("2000 documents -> " + Path("index") + ", kind ivf_flat"));
  const nlohmann::json info = Info(), segment = info["segments"][0];
  EXPECT_EQ(info["kind"], "ivf_flat");
  EXPECT_LE(info["resident_bytes"], 35 << 10);
  EXPECT_GE(segment["recall_at_10"], 0.9);
  EXPECT_GE(segment["effort"], 1);
  EXPECT_THAT(
      Run({"info", Path("index")}).out,
      HasSubstr(fmt::format("recall {:.3f} measured at effort {}",
                            segment["recall_at_10"].get<double>(), segment["effort"].get<int>())));
}

TEST_F(IndexCommandTest, AnIndexWithItsModelCanBeMoved) {
  WriteDocuments("a.jsonl", 3);
  std::vector<std::string> arguments = BuildArguments("a.jsonl");
  arguments.emplace_back("--with-model");
  ASSERT_EQ(Run(arguments).exit_code, 0);
  std::filesystem::remove_all(Path("model"));
  std::filesystem::rename(Path("index"), Path("moved"));
  WriteDocuments("b.jsonl", 1, 10);
  const ProgramResult added = Run({"add", Path("moved"), Path("b.jsonl")});
  EXPECT_EQ(added.exit_code, 0) << added.err;
  const std::string settings = Path("moved/model-000001/config.json");
  WriteFileAtomically(settings, ReadFile(settings) + " ");
  const ProgramResult altered = Run({"add", Path("moved"), Path("b.jsonl")});
  EXPECT_EQ(altered.exit_code, 3);
  EXPECT_THAT(altered.err, HasSubstr("model-000001/config.json: has "));
}

TEST_F(IndexCommandTest, KilledAtAnyMomentItEndsInTheSameBytes) {
  WriteDocuments("a.jsonl", 20000);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Run(BuildArguments("a.jsonl")).exit_code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto whole = FilesOf(Path("index"));
  std::filesystem::remove_all(Path("index"));
  std::vector<std::string> arguments = {"index"};
  for (const std::string& word : BuildArguments("a.jsonl")) arguments.push_back(word);
  arguments.insert(arguments.end(), {"--threads", "2"});
  size_t killed = 0;
  for (const double share : {0.2, 0.4, 0.6, 0.8}) {  // while it starts, reads and encodes
    const pid_t child = StartTandem(arguments, {.err = Path("err")});
    std::this_thread::sleep_for(share * took);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed += WIFSIGNALED(status);
    if (IsIndex(Path("index"))) break;
  }
  EXPECT_GE(killed, 1u);
  if (!IsIndex(Path("index"))) {
    const ProgramResult resumed = RunTandem(arguments);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(FilesOf(Path("index")), whole);
    return;
  }
  // Killed when the index was there: what building has left beside it goes with the next change.
  auto found = FilesOf(Path("index"));
  std::erase_if(found, [&whole](const auto& file) { return !whole.contains(file.first); });
  EXPECT_EQ(found, whole);
}

// The limit of a file's size stands for a full disk: a write fails in the same way.
TEST_F(IndexCommandTest, WithoutRoomTheOldIndexStaysAndTheNewOneGoesOnLater) {
  WriteDocuments("a.jsonl", 10);
  ASSERT_EQ(Run(BuildArguments("a.jsonl")).exit_code, 0);
  const auto before = FilesOf(Path("index"));
  WriteDocuments("b.jsonl", 2000);
  std::vector<std::string> arguments = BuildArguments("b.jsonl");
  arguments.emplace_back("--replace");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = 200'000, .rlim_max = limit.rlim_max};  // the vectors take 256,000
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const ProgramResult full = Run(arguments);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("vectors.f32: cannot have the 250.0 KiB that the vectors of 2000 "
                                  "documents need: File too large"));
  for (const auto& [name, bytes] : before) EXPECT_EQ(ReadFile(Path("index/" + name)), bytes);
  EXPECT_EQ(Info()["documents"], 10);
  ASSERT_EQ(Run(arguments).exit_code, 0);
  EXPECT_EQ(Info()["documents"], 2000);
}

// Compares the bytes of float32 vectors of unit length.
void ExpectSameButForRounding(const std::string& found, const std::string& expected) {
  ASSERT_EQ(found.size(), expected.size());
  std::vector<float> a(found.size() / sizeof(float)), b(a.size());
  std::memcpy(a.data(), found.data(), found.size());
  std::memcpy(b.data(), expected.data(), expected.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << i;
}

// What `tandem evaluate` has encoded is not encoded again. Where a text comes twice the cache has
// one row for both, whose last digits may differ from what an index of all documents has.
TEST_F(IndexCommandTest, TakesEmbeddingsFromTheCache) {
  ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);
  const std::vector<std::string> words = TinyWords();
  std::string corpus;
  for (size_t i = 0; i < 200; ++i) {
    corpus += fmt::format("{{\"_id\": \"d{}\", \"title\": \"{}\", \"text\": \"{} {}\"}}\n", i,
                          words[i % words.size()], words[i % words.size()],
                          std::string(i / words.size() + 1, 'a'));
  }
  const auto evaluate = [&](const std::string& documents) {
    WriteFileAtomically(Path("data/corpus.jsonl"), documents);
    WriteFileAtomically(Path("data/queries.jsonl"), R"({"_id": "q", "text": "a"})");
    WriteFileAtomically(Path("data/qrels/test.tsv"), "query-id\tcorpus-id\tscore\nq\td1\t1\n");
    return RunTandem(
               {"evaluate", "--model", Path("model"), "--dataset", Path("data"), "--threads", "2"})
        .exit_code;
  };
  const auto build = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"build",    Path("model"), Path("data/corpus.jsonl"),
                                          "--output", Path("index"), "--replace"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult built = Run(arguments);
    EXPECT_EQ(built.exit_code, 0) << built.err;
    return built.err;
  };
  std::filesystem::create_directories(Path("data/qrels"));
  ASSERT_EQ(evaluate(corpus), 0);
  constexpr const char* kTaken = "200 of 200 embeddings are from ";
  constexpr const char* kEncoded = "encode documents 100%";
  const std::string without_cache = build({"--no-cache"});
  EXPECT_EQ(without_cache.find(kTaken), std::string::npos);
  EXPECT_THAT(without_cache, HasSubstr(kEncoded));
  const std::string encoded = FilesOf(Path("index")).at("segment-000001/vectors.f32");
  const std::string with_cache = build({});
  EXPECT_THAT(with_cache, HasSubstr(kTaken));
  EXPECT_EQ(with_cache.find(kEncoded), std::string::npos);
  EXPECT_EQ(FilesOf(Path("index")).at("segment-000002/vectors.f32"), encoded);
  const std::string shorter = build({"--max-document-tokens", "3"});
  EXPECT_EQ(shorter.find("are from "), std::string::npos);
  EXPECT_THAT(shorter,
              HasSubstr("encode documents: all 200 texts are encoded: the cache has embeddings by "
                        "this model that were made in another way (\"max_tokens 64\", here "
                        "\"max_tokens 3\")\n"));

  const std::string two = R"({"_id": "d200", "title": "", "text": "a"})"
                          "\n"
                          R"({"_id": "d201", "title": "", "text": "a"})";
  WriteFileAtomically(Path("data/corpus.jsonl"), corpus + two);
  EXPECT_THAT(build({}), HasSubstr("encode documents: all 202 texts are encoded: the cache has "
                                   "embeddings by this model of other texts\n"));
  const std::string of_all = FilesOf(Path("index")).at("segment-000004/vectors.f32");
  ASSERT_EQ(evaluate(corpus + two), 0);
  const std::string with_copies = build({});
  EXPECT_THAT(with_copies, HasSubstr("201 of 201 embeddings are from "));
  EXPECT_THAT(with_copies, HasSubstr("encode documents: 1 of 202 texts are copies of others and "
                                     "share their embeddings: 201 are left\n"));
  EXPECT_EQ(with_copies.find(kEncoded), std::string::npos);
  const std::string shared = FilesOf(Path("index")).at("segment-000005/vectors.f32");
  ExpectSameButForRounding(shared, of_all);
  const size_t row = shared.size() / 202;
  EXPECT_EQ(shared.substr(200 * row, row), shared.substr(201 * row));

  const ProgramResult added = Run({"add", Path("index"), Path("data/corpus.jsonl"), "--update"});
  EXPECT_THAT(added.err, HasSubstr("201 of 201 embeddings are from "));
  const ProgramResult anew =
      Run({"add", Path("index"), Path("data/corpus.jsonl"), "--update", "--no-cache"});
  EXPECT_EQ(anew.exit_code, 0);
  EXPECT_EQ(anew.err.find("are from "), std::string::npos);
  ::setenv("TANDEM_CACHE", "", 1);
}

TEST_F(IndexCommandTest, MistakesAreSaidBeforeAnythingIsLoaded) {
  const auto expect = [&](const std::vector<std::string>& arguments, int exit_code,
                          const std::string& message) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  const std::string a = Path("a.jsonl"), m = Path("model"), i = Path("index");
  expect({"build", m, a, "--output", i, "--kind", "fp23"}, 2, "did you mean fp32?");
  expect({"build", m, a, "--output", i, "--kind", "fp32", "--set", "m=3"}, 2, "has no parameters");
  expect({"build", m, a, "--output", i, "--field", "year:date"}, 2, "year:date");
  expect({"build", m, a, "--output", i, "--kind", "hnsw", "--recall", "1"}, 2,
         "--recall of hnsw must be from 0.5 to 0.9999, found 1");
  std::vector<std::string> fields = {"build", m, a, "--output", i};
  for (int n = 0; n < 257; ++n) fields.insert(fields.end(), {"--field", fmt::format("f{}", n)});
  expect(fields, 2, "--field is given 257 times; an index has at most 256 fields");
  expect({"biuld"}, 2, "unknown command biuld; did you mean build?");
  expect({"info", i}, 3, "there is no such folder; an index was expected");
  expect({"remove", i}, 2, "no ids are given");
}

}  // namespace
}  // namespace tandem::index
