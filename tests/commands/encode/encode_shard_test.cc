// `tandem encode` in shards: parts that together are what one process encodes, read by the commands
// that search.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/process/asked_forms.h"
#include "commands/encode/encode_fixture.h"
#include "embeddings/layouts/npy.h"
#include "embeddings/layouts/part_record.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EncodeShard : public EncodeCommandTest {
 protected:
  // Some texts with a title, which stands before them; `name` becomes a BEIR folder, too.
  EncodeShard() { WriteCorpus(kTexts); }

  void WriteCorpus(size_t texts) const {
    std::string corpus;
    for (size_t i = 0; i < texts; ++i) {
      corpus += fmt::format("{{\"_id\": \"d{}\", \"title\": \"{}\", \"text\": \"{}\"}}\n", i,
                            i % 3 == 0 ? TextOf(i + 1) : "", TextOf(i));
    }
    std::filesystem::create_directories(Path("data/qrels"));
    Write("data/corpus.jsonl", corpus);
    std::string queries, judged = "query-id\tcorpus-id\tscore\n";
    for (size_t i = 0; i < 20; ++i) {
      queries += fmt::format("{{\"_id\": \"q{}\", \"text\": \"{}\"}}\n", i, TextOf(3 * i + 1));
      judged += fmt::format("q{}\td{}\t1\n", i, 11 * i);
    }
    Write("data/queries.jsonl", queries);
    Write("data/qrels/test.tsv", judged);
  }

  std::vector<std::string> Flags(const std::string& output,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = {Path("data"), "--output", Path(output), "--block-texts",
                                      "50"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  ProgramResult EncodeOne(const std::string& shard, const std::vector<std::string>& more = {},
                          const std::string& output = "parts") const {
    std::vector<std::string> all = {"--shard", shard};
    all.insert(all.end(), more.begin(), more.end());
    return Encode(Flags(output, all));
  }
  void EncodeAll(size_t shards, const std::string& output = "parts") const {
    for (size_t i = 0; i < shards; ++i) {
      const ProgramResult result = EncodeOne(fmt::format("{}/{}", i, shards), {}, output);
      ASSERT_EQ(result.exit_code, 0) << result.err;
    }
  }
  // Rows and ids of all parts, one after the other.
  std::string PartBytes(size_t shards, const std::string& output = "parts") const {
    std::string rows, ids;
    for (uint32_t i = 0; i < shards; ++i) {
      const std::string name =
          Path(output) + "/" + embeddings::Shard{i, static_cast<uint32_t>(shards)}.Name();
      rows += ReadFile(name + ".npy").substr(embeddings::kNpyHeaderBytes);
      ids += ReadFile(name + ".ids.txt");
    }
    return rows + ids;
  }
  std::string WholeBytes() const {
    return ReadFile(Path("whole/embeddings.npy")).substr(embeddings::kNpyHeaderBytes) +
           ReadFile(Path("whole/ids.txt"));
  }

  ProgramResult Search(const std::string& embeddings,
                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "search", "--model",   Path("model"), "--dataset",    Path("data"),    "--output",
        "-",      "--threads", "2",           "--embeddings", Path(embeddings)};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }

  static constexpr size_t kTexts = 420;  // nine blocks of 50, the last of 20
};

TEST_F(EncodeShard, TogetherTheyAreWhatOneProcessEncodes) {
  ASSERT_EQ(Encode(Flags("whole")).exit_code, 0);
  for (const size_t shards : {1U, 2U, 4U}) {
    const std::string output = fmt::format("parts{}", shards);
    EncodeAll(shards, output);
    EXPECT_EQ(PartBytes(shards, output), WholeBytes()) << shards;
  }
  const auto record = nlohmann::json::parse(ReadFile(Path("parts4/part-00003-of-00004.json")));
  EXPECT_EQ(record["first_row"], 300);
  EXPECT_EQ(record["rows"], 120);
  EXPECT_EQ(record["total_rows"], kTexts);
  EXPECT_EQ(record["width"], 32);
  EXPECT_EQ(record["settings"]["kind"], "document");
}

TEST_F(EncodeShard, MoreShardsThanBlocksLeaveEmptyParts) {
  WriteCorpus(230);
  ASSERT_EQ(Encode(Flags("whole")).exit_code, 0);
  EncodeAll(8);
  EXPECT_EQ(PartBytes(8), WholeBytes());
  EXPECT_EQ(embeddings::ReadNpyShape(Path("parts/part-00000-of-00008.npy")).rows, 0U);
  EXPECT_EQ(embeddings::ReadNpyShape(Path("parts/part-00000-of-00008.npy")).columns, 32U);
  EXPECT_THAT(EncodeOne("0/8", {"--resume"}).err,
              AllOf(HasSubstr("no texts are this shard's: the input has 230 in blocks of 50"),
                    Not(HasSubstr("nothing was begun"))));
  EXPECT_EQ(Search("parts").exit_code, 0);
}

TEST_F(EncodeShard, SearchAndEvaluateReadParts) {
  if (FormsOfEnvironment() != AskedForms::kFused) GTEST_SKIP() << "other forms round by the batch";
  EncodeAll(3);
  const auto before = FilesOf("parts");
  const ProgramResult of_parts = Search("parts"), of_kept = Search("kept");
  ASSERT_EQ(of_parts.exit_code, 0) << of_parts.err;
  EXPECT_THAT(of_parts.err,
              AllOf(HasSubstr("420 embeddings are from " + Path("parts") + ", in 3 parts"),
                    Not(HasSubstr("encode documents"))));
  ASSERT_EQ(of_kept.exit_code, 0) << of_kept.err;
  EXPECT_THAT(of_parts.out, Not(IsEmpty()));
  EXPECT_EQ(of_parts.out, of_kept.out);
  const auto evaluate = [&](const std::string& embeddings) {
    return RunTandem({"evaluate", "--model", Path("model"), "--dataset", Path("data"),
                      "--embeddings", Path(embeddings), "--threads", "2", "--measures",
                      "ndcg@10,auc", "--format", "json"});
  };
  EXPECT_EQ(evaluate("parts").out, evaluate("kept").out);
  EXPECT_EQ(FilesOf("parts"), before);
  const ProgramResult text =
      RunTandem({"search", "--model", Path("model"), "--dataset", Path("data"), "--embeddings",
                 Path("parts"), "--query", "alpha beta", "--format", "json", "--threads", "2"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(nlohmann::json::parse(text.out)[0]["hits"].size(), 10U);
}

TEST_F(EncodeShard, MineReadsParts) {
  EncodeAll(3);
  const auto mine = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"mine",       "--model",   Path("model"), "--dataset",
                                      Path("data"), "--split",   "test",        "--range",
                                      "2:40",       "--threads", "2",           "--no-cache"};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  };
  const ProgramResult encoded = mine({"--output", Path("encoded.jsonl")});
  ASSERT_EQ(encoded.exit_code, 0) << encoded.err;
  const ProgramResult of_parts =
      mine({"--output", Path("of_parts.jsonl"), "--embeddings", Path("parts")});
  ASSERT_EQ(of_parts.exit_code, 0) << of_parts.err;
  EXPECT_THAT(of_parts.err, AllOf(HasSubstr("420 embeddings are from " + Path("parts")),
                                  Not(HasSubstr("encode documents"))));
  EXPECT_THAT(ReadFile(Path("encoded.jsonl")), HasSubstr("neg"));
  EXPECT_EQ(ReadFile(Path("of_parts.jsonl")), ReadFile(Path("encoded.jsonl")));
  EXPECT_THAT(mine({"--output", Path("x"), "--embeddings", Path("data")}).err,
              HasSubstr(Path("data") + ": is no folder of embeddings in parts"));
  const ProgramResult by_run = RunTandem({"mine", "--run", Path("x"), "--dataset", Path("data"),
                                          "--output", Path("x"), "--embeddings", Path("parts")});
  EXPECT_EQ(by_run.exit_code, 2);
  EXPECT_THAT(by_run.err, HasSubstr("--embeddings needs --model"));
}

TEST_F(EncodeShard, AnIndexIsBuiltFromParts) {
  EncodeAll(3);
  const auto build = [&](const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"index",     "build",      Path("model"), Path("data"),
                                      "--output",  Path(output), "--kind",      "fp32",
                                      "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  };
  const ProgramResult of_parts = build("of_parts", {"--embeddings", Path("parts")});
  ASSERT_EQ(of_parts.exit_code, 0) << of_parts.err;
  EXPECT_THAT(of_parts.err, AllOf(HasSubstr("420 embeddings are from " + Path("parts")),
                                  Not(HasSubstr("encode documents"))));
  // The index's blocks are of 4,096 texts, those of one process here too.
  ASSERT_EQ(Encode({Path("data"), "--output", Path("one"), "--shard", "0/1"}).exit_code, 0);
  ASSERT_EQ(build("of_one", {"--embeddings", Path("one")}).exit_code, 0);
  ASSERT_EQ(build("encoded", {}).exit_code, 0);
  const auto vectors = [&](const std::string& index) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(index))) {
      if (entry.path().filename() == "vectors.f32") return ReadFile(entry.path());
    }
    return std::string();
  };
  EXPECT_EQ(vectors("encoded").size(), kTexts * 32 * 4);
  EXPECT_EQ(vectors("of_one"), vectors("encoded"));
  EXPECT_EQ(vectors("of_parts").size(), vectors("encoded").size());
  const ProgramResult hits = RunTandem({"search", Path("of_parts"), TextOf(8), "--format", "json"});
  ASSERT_EQ(hits.exit_code, 0) << hits.err;
  // Other documents are refused, and the part is named.
  Write("data/corpus.jsonl", Lines(0, kTexts));
  const ProgramResult other = build("other", {"--embeddings", Path("parts")});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("texts 1 to 150 have the ids that they had, but are not those "
                                   "that were encoded: encode with --shard 0/3 again"));
}

TEST_F(EncodeShard, ReadersRefuseWhatIsNotTheCorpus) {
  EncodeAll(3);
  const auto refused = [&](const ProgramResult& result, int exit_code, const std::string& message) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.out, IsEmpty());
  };
  refused(Search("parts", {"--max-document-tokens", "9"}), 2, "tokens a text 64, and now it is 9");
  refused(Search("parts", {"--precision", "int8"}), 2, "precision fp32, and now it is int8");
  WriteTinyModel(Path("model"), {.seed = 2});
  refused(Search("parts"), 4, Path("parts") + ": was encoded with another model");
  WriteTinyModel(Path("model"));
  std::string part = ReadFile(Path("parts/part-00002-of-00003.npy"));
  part[500] = static_cast<char>(part[500] ^ 1);
  Write("parts/part-00002-of-00003.npy", part);
  refused(Search("parts"), 3,
          Path("parts/part-00002-of-00003.npy") +
              ": is not as it was written (its checksum "
              "differs)");
  std::filesystem::remove(Path("parts/part-00002-of-00003.json"));
  ASSERT_EQ(EncodeOne("2/3", {"--force"}).exit_code, 0);
  EXPECT_EQ(Search("parts").exit_code, 0);
  WriteCorpus(kTexts + 1);
  refused(Search("parts"), 3,
          "holds 420 embeddings, expected 421, one for each of the documents of the corpus");
}

TEST_F(EncodeShard, InspectShowsParts) {
  EncodeAll(3);
  const auto found =
      nlohmann::json::parse(RunTandem({"inspect", Path("parts"), "--format", "json"}).out);
  EXPECT_EQ(found["kind"], "embedding_parts");
  EXPECT_EQ(found["texts"], kTexts);
  EXPECT_EQ(found["width"], 32);
  EXPECT_EQ(found["shards"], 3);
  EXPECT_EQ(found["encoded_with"]["precision"], "fp32");
  EXPECT_EQ(found["parts"][2]["first_row"], 300);
  const ProgramResult verified = RunTandem({"inspect", Path("parts"), "--verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_THAT(RunTandem({"inspect", Path("model"), "--verify"}).err,
              HasSubstr("--verify is for folders of embeddings in parts"));
  std::string bytes = ReadFile(Path("parts/part-00001-of-00003.npy"));
  bytes[600] = static_cast<char>(bytes[600] ^ 1);
  Write("parts/part-00001-of-00003.npy", bytes);
  EXPECT_EQ(RunTandem({"inspect", Path("parts")}).exit_code, 0);
  const ProgramResult damaged = RunTandem({"inspect", Path("parts"), "--verify"});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_THAT(damaged.err, HasSubstr("part-00001-of-00003.npy: is not as it was written"));
  std::filesystem::remove(Path("parts/part-00001-of-00003.json"));
  const ProgramResult missing = RunTandem({"inspect", Path("parts")});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("1 of 3 shards is missing: 1/3"));
}

TEST_F(EncodeShard, RanksOfALauncherAreShards) {
  ASSERT_EQ(Encode(Flags("whole")).exit_code, 0);
  const auto start = [&](const std::string& rank, const std::vector<std::string>& more) {
    return StartTandem(Arguments(Flags("parts", more)), {.err = Path("err" + rank)},
                       {{"RANK", rank}, {"WORLD_SIZE", "2"}});  // no MASTER_ADDR: nobody is asked
  };
  const auto wait = [](pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const pid_t one = start("1", {}), zero = start("0", {});
  EXPECT_EQ(wait(one), 0) << ReadFile(Path("err1"));
  EXPECT_EQ(wait(zero), 0) << ReadFile(Path("err0"));
  EXPECT_EQ(PartBytes(2), WholeBytes());
  EXPECT_THAT(ReadFile(Path("err1")), HasSubstr("shard 1/2: 220 texts"));
  // A job that was started again goes on, without a flag.
  const pid_t again =
      StartTandem(Arguments(Flags("parts")), {.err = Path("err1")},
                  {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"TORCHELASTIC_RESTART_COUNT", "1"}});
  EXPECT_EQ(wait(again), 0);
  EXPECT_THAT(ReadFile(Path("err1")),
              HasSubstr("shard 1/2: all 220 texts have been encoded before"));
  // What cannot be cut among processes.
  const pid_t to_file = StartTandem(Arguments({Path("data"), "--output", Path("a.npy")}),
                                    {.err = Path("err1")}, {{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(wait(to_file), 2);
  EXPECT_THAT(ReadFile(Path("err1")),
              HasSubstr("this is process 1/2 of a launcher: each shard writes a part into one "
                        "folder; found --output " +
                        Path("a.npy")));
}

TEST_F(EncodeShard, AnInterruptedShardGoesOnToTheSameBytes) {
  WriteCorpus(6000);
  ASSERT_EQ(Encode(Flags("whole")).exit_code, 0);
  ASSERT_EQ(EncodeOne("0/2").exit_code, 0);
  const auto journal = Path("parts/part-00001-of-00002.npy.journal");
  const pid_t child =
      StartTandem(Arguments(Flags("parts", {"--shard", "1/2"})), {.err = Path("err")});
  int status = 0;
  while (!std::filesystem::exists(journal) ||
         ReadFile(journal).find("\nblock 50 ") == std::string::npos) {
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << ReadFile(Path("err"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const ProgramResult search = Search("parts");
  EXPECT_EQ(search.exit_code, 3);
  EXPECT_THAT(search.err,
              HasSubstr("1 of 2 shards is missing: 1/2 (1 begun, not finished). Make it "
                        "with the command of the others and --shard 1/2 --resume"));
  const ProgramResult resumed = EncodeOne("1/2", {"--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("texts have been encoded before"));
  EXPECT_EQ(PartBytes(2), WholeBytes());
  const auto before = FilesOf("parts");
  const ProgramResult again = EncodeOne("1/2", {"--resume"});
  EXPECT_THAT(again.err, HasSubstr("all 3000 texts have been encoded before"));
  EXPECT_EQ(FilesOf("parts"), before);
  EXPECT_EQ(Search("parts").exit_code, 0);
}

TEST_F(EncodeShard, WhatDoesNotFitTheOtherPartsIsRefused) {
  ASSERT_EQ(EncodeOne("0/3").exit_code, 0);
  const auto refused = [&](const ProgramResult& result, int exit_code, const std::string& message) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  const std::string first = Path("parts/part-00000-of-00003.json");
  refused(
      EncodeOne("1/2"), 2,
      Path("parts") + ": holds part-00000-of-00003.ids.txt, of 3 shards, and this is shard 1/2");
  refused(EncodeOne("1/3", {"--precision", "int8"}), 2,
          first +
              ": was encoded with precision fp32, and now it is int8; give the same --precision, "
              "or encode into another folder");
  refused(EncodeOne("1/3", {"--kind", "query"}), 2, first + ": was encoded with --kind document");
  refused(EncodeOne("1/3", {"--max-document-tokens", "5"}), 2, "with tokens a text 64");
  refused(EncodeOne("1/3", {"--prompt", "a prompt"}), 2, "with another prompt");
  WriteCorpus(421);
  refused(EncodeOne("1/3"), 2, first + ": was encoded with an input of 420 texts, files of ");
  refused(EncodeOne("0/3", {"--resume"}), 2,
          "part-00000-of-00003.npy: was encoded with an input of 420 texts");
  WriteCorpus(kTexts);
  WriteTinyModel(Path("model"), {.seed = 2});
  refused(EncodeOne("1/3"), 4, first + ": was encoded with another model; give the same model, or");
  refused(EncodeOne("0/3", {"--resume"}), 4, "was encoded with another model");
  WriteTinyModel(Path("model"));
  refused(Encode(Flags("parts")), 2,
          "holds part-00000-of-00003.ids.txt, a part that --shard has made");
  ASSERT_EQ(Encode(Flags("whole")).exit_code, 0);
  refused(EncodeOne("1/3", {}, "whole"), 2, "holds embeddings.npy, of one process");
  EXPECT_EQ(EncodeOne("1/3").exit_code, 0);
}

TEST_F(EncodeShard, FlagsThatSayNoShard) {
  const auto refused = [&](const ProgramResult& result, const std::string& message) {
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused(EncodeOne("3/2"), "--shard 3/2: shards are counted from 0, so that the last of 2 is 1/2");
  refused(EncodeOne("2/2"), "the last of 2 is 1/2");
  for (const std::string wrong : {"1", "1/", "/2", "a/2", "0/0", "-1/2", "0/100000", "0/2/3"}) {
    refused(EncodeOne(wrong), fmt::format("--shard is \"{}\": expected I/N", wrong));
  }
  refused(Encode({Path("data"), "--output", "-", "--shard", "0/2"}),
          "--shard 0/2: each shard writes");
  refused(Encode({Path("data"), "--output", Path("a.npy"), "--shard", "0/2"}), "expected a folder");
  refused(Encode({"-", "--output", Path("parts"), "--shard", "0/2"}), "name files");
  EXPECT_FALSE(std::filesystem::exists(Path("parts")));
}

// Each shard checks its own ids; the first one those of all.
TEST_F(EncodeShard, TheFirstShardFindsIdsThatComeTwiceInOthers) {
  Write("data/corpus.jsonl", Lines(0, 200) + Lines(20, 21) + Lines(201, 400));
  const ProgramResult first = EncodeOne("0/2");
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_THAT(first.err, HasSubstr("corpus.jsonl:201: has the same \"_id\" as line 21 (id d20)"));
  EXPECT_EQ(EncodeOne("1/2").exit_code, 0);
}

// A shard of another input of the same size, which has an id of the first one's.
TEST_F(EncodeShard, VerifyFindsIdsThatComeTwiceInTheParts) {
  Write("data/corpus.jsonl", Lines(100, 500));
  ASSERT_EQ(EncodeOne("0/2").exit_code, 0);
  Write("data/corpus.jsonl",
        Lines(100, 450) + fmt::format("{{\"_id\": \"d110\", \"text\": \"{}\"}}\n", TextOf(450)) +
            Lines(451, 500));
  ASSERT_EQ(EncodeOne("1/2").exit_code, 0);
  const ProgramResult found = RunTandem({"inspect", Path("parts"), "--verify"});
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_THAT(found.err,
              HasSubstr(Path("parts") + ": has an id twice: part-00000-of-00002.ids.txt:11 and "
                                        "part-00001-of-00002.ids.txt:151"));
  EXPECT_THAT(found.err, HasSubstr("(id d110)"));
}

}  // namespace
}  // namespace tandem
