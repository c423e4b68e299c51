// What each flag of `tandem encode` means for --resume. Whoever adds a flag says it in kCases: that
// it decides the bytes, so that a job that was begun with another value is not gone on with, or
// that it does not, so that the bytes are the same with it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/commands.h"
#include "commands/encode/encode_fixture.h"

namespace tandem {
namespace {

using testing::Contains;
using testing::HasSubstr;

using Words = std::vector<std::string>;

enum class Effect {
  kDecides,     // going on with it is refused
  kSameBytes,   // encoding with it gives the bytes of encoding without it
  kNotOfFiles,  // says where the output goes, or what is printed: nothing to compare
};

struct FlagCase {
  std::string flag;  // an argument by its name, a flag by its longest
  Effect effect;
  Words with = {};           // what is given, which has the flag
  std::string refusal = "";  // kDecides: what the error says
  Words first = {};          // what was given at first, if that is not {"model", "a.jsonl"}
};

// "model", "other" and "*.jsonl" stand for files of the test.
const std::vector<FlagCase>& Cases() {
  using enum Effect;
  static const Words plain = {"model", "a.jsonl"};
  static const auto more = [](Words words) {
    words.insert(words.begin(), plain.begin(), plain.end());
    return words;
  };
  static const std::vector<FlagCase> cases = {
      {"model-folder", kDecides, {"other", "a.jsonl"}, "with another model; give the same model"},
      {"--model", kDecides, {"a.jsonl", "--model", "other"}, "with another model"},
      // What is read is compared text by text, however it is named and read.
      {"inputs", kDecides, {"model", "b.jsonl"}, "are not those that were encoded before"},
      {"--input", kDecides, {"model", "--input", "b.jsonl"}, "are not those that were encoded"},
      {"--format", kDecides, more({"--format", "lines"}), "are not those that were encoded"},
      {"--id-field", kDecides, more({"--id-field", ""}), "give the same --id-field"},
      {"--text-field", kDecides, more({"--text-field", "_id"}), "give the same --text-field"},
      {"--output", kNotOfFiles},
      {"--output-format", kNotOfFiles},
      {"--shard", kDecides, more({"--shard", "0/3"}), "give the same number of shards",
       more({"--shard", "0/2"})},
      {"--resume", kNotOfFiles},
      {"--force", kNotOfFiles},
      {"--block-texts", kDecides, more({"--block-texts", "50"}), "give the same --block-texts"},
      {"--kind", kDecides, more({"--kind", "query"}), "give the same --kind"},
      {"--prompt", kDecides, more({"--prompt", "a prompt"}), "give the same --prompt"},
      {"--max-query-tokens", kDecides, more({"--kind", "query", "--max-query-tokens", "5"}),
       "give the same --max-document-tokens or --max-query-tokens", more({"--kind", "query"})},
      {"--max-document-tokens", kDecides, more({"--max-document-tokens", "5"}),
       "give the same --max-document-tokens or --max-query-tokens"},
      {"--dimensions", kDecides, more({"--dimensions", "8"}), "give the same --dimensions"},
      {"--threads", kDecides, more({"--threads", "1"}), "give the same --threads"},
      {"--seed", kSameBytes, more({"--seed", "7"})},
      {"--precision", kDecides, more({"--precision", "int8"}), "give the same --precision"},
      // Where there is no such device the command says that instead.
      {"--device", kDecides, more({"--device", "cuda"}), "device"},
      {"--quiet", kSameBytes, more({"--quiet"})},
      {"--help", kNotOfFiles}};
  return cases;
}

class EncodeFlags : public EncodeCommandTest {
 protected:
  EncodeFlags() {
    WriteTinyModel(Path("other"), {.seed = 2});
    Write("a.jsonl", Lines(0, 250));
    Write("b.jsonl", Lines(1, 251));
  }

  // `tandem encode WORDS --output OUTPUT`, with as many threads in every run.
  ProgramResult Run(const Words& words, const std::string& output, bool resume = false) const {
    Words all = {"encode"};
    for (const std::string& word : words) {
      const bool is_file = word == "model" || word == "other" || word.ends_with(".jsonl");
      all.push_back(is_file ? Path(word) : word);
    }
    all.insert(all.end(), {"--output", Path(output)});
    const auto has = [&](const char* flag) {
      return std::find(all.begin(), all.end(), flag) != all.end();
    };
    if (resume) all.emplace_back("--resume");
    if (!has("--resume") && !has("--force")) all.emplace_back("--force");  // over the one before
    if (!has("--threads")) all.insert(all.end(), {"--threads", "2"});
    return RunTandem(all);
  }

  // Encodes once for all cases that begin alike; returns the folder.
  std::string Begun(const Words& words) {
    for (size_t i = 0; i < begun_.size(); ++i) {
      if (begun_[i] == words) return "begun" + std::to_string(i);
    }
    begun_.push_back(words);
    const std::string folder = "begun" + std::to_string(begun_.size() - 1);
    const ProgramResult result = Run(words, folder);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return folder;
  }

  std::vector<Words> begun_;
};

TEST_F(EncodeFlags, EachIsOneThatDecidesTheBytesOrNot) {
  std::vector<std::string> names;
  for (const app::CommandDescription& command : app::DescribeProgram(app::Commands()).commands) {
    if (command.ShortName() != "encode") continue;
    for (const app::FlagDescription& flag : command.flags) names.push_back(flag.names.back());
  }
  std::vector<std::string> known;
  for (const FlagCase& one : Cases()) known.push_back(one.flag);
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(names))
      << "whether a flag decides the bytes of embeddings is said in this file";
}

TEST_F(EncodeFlags, ThatDecideTheBytesAreSettingsOfTheJob) {
  for (const FlagCase& one : Cases()) {
    if (one.effect != Effect::kDecides) continue;
    SCOPED_TRACE(one.flag);
    const std::string folder = Begun(one.first.empty() ? Words{"model", "a.jsonl"} : one.first);
    const auto before = FilesOf(folder);
    const ProgramResult result = Run(one.with, folder, /*resume=*/true);
    EXPECT_NE(result.exit_code, 0) << "is not refused";
    EXPECT_THAT(result.err, HasSubstr(one.refusal));
    EXPECT_EQ(FilesOf(folder), before);
  }
}

TEST_F(EncodeFlags, TheOthersLeaveTheBytesAsTheyAre) {
  const std::string plain = Begun({"model", "a.jsonl"});
  for (const FlagCase& one : Cases()) {
    if (one.effect != Effect::kSameBytes) continue;
    SCOPED_TRACE(one.flag);
    EXPECT_THAT(one.with, Contains(one.flag));
    const ProgramResult result = Run(one.with, "out");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(FilesOf("out"), FilesOf(plain));
  }
}

}  // namespace
}  // namespace tandem
