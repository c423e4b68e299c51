// What is the same for every command: help, unknown words, the version.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// The first line of stderr is `error: MESSAGE` to the letter: what a user reads does not depend on
// the version of the library that reads the command line.
void ExpectUsageError(const std::vector<std::string>& arguments, const std::string& message) {
  const ProgramResult result = RunTandem(arguments);
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.substr(0, result.err.find('\n')), "error: " + message);
}

TEST(CommandLine, HelpGoesToStdout) {
  for (const char* flag : {"-h", "--help"}) {
    const ProgramResult result = RunTandem({flag});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    for (const char* command : {"train", "evaluate", "search", "encode", "inspect"}) {
      EXPECT_THAT(result.out, HasSubstr(command));
    }
  }
  const ProgramResult of_train = RunTandem({"train", "--help"});
  EXPECT_THAT(of_train.out, HasSubstr("--resume"));
  EXPECT_THAT(of_train.out, HasSubstr("--seed"));
  EXPECT_EQ(of_train.exit_code, 0);
}

TEST(CommandLine, UnknownWordsNameTheNearest) {
  ExpectUsageError({"trian"}, "unknown command trian; did you mean train?");
  ExpectUsageError({"train", "r.toml", "--outptu", "x"},
                   "unknown flag --outptu; did you mean --output?");
  ExpectUsageError({"train", "r.toml", "more"}, "unknown argument more");
}

// A misspelt flag is why the required one is missing, so the message names the misspelt one.
TEST(CommandLine, UnknownFlagComesBeforeAMissingOne) {
  ExpectUsageError({"search", "--modle", "m", "--dataset", "d"},
                   "unknown flag --modle; did you mean --model?");
  ExpectUsageError({"search", "--dataset", "d"}, "--model is required");
}

// The word after it is not taken for its value.
TEST(CommandLine, AnEmptyValueIsTheFlagsOwn) {
  for (const std::vector<std::string>& split :
       {std::vector<std::string>{"--output="}, std::vector<std::string>{"--output", ""}}) {
    std::vector<std::string> arguments = {"mine", "--model", "m", "--dataset", "d"};
    arguments.insert(arguments.end(), split.begin(), split.end());
    arguments.push_back("--format=json");
    ExpectUsageError(arguments, "\"\" is no file that a data set can be written to");
  }
  ExpectUsageError({"train", "r.toml", "--threads=", "--quiet"},
                   "--threads is empty; expected a whole number, 0 to 4096");
  ExpectUsageError({"train", "r.toml", "--quiet=", "--seed=1"},
                   "--quiet takes no value; found an empty one");
  ExpectUsageError({"train", "r.toml", ""}, "unknown argument \"\"");
}

TEST(CommandLine, ValuesOutOfRange) {
  ExpectUsageError({"train", "r.toml", "--seed", "-1"},
                   "--seed is -1; expected a whole number, at least 0");
  for (const char* word : {"x", "4097", "-1", "1.5", "0x10", "1e3", "4 ", "99999999999999999999"}) {
    ExpectUsageError({"train", "r.toml", "--threads", word},
                     fmt::format("--threads is {}; expected a whole number, 0 to 4096", word));
  }
  ExpectUsageError({"evaluate", "--relevance-level", "x"},
                   "--relevance-level is x; expected a number");
  ExpectUsageError({"encode", "--max-query-tokens", "-3"},
                   "--max-query-tokens is -3; expected a whole number of at least 0");
  ExpectUsageError({"inspect", "m", "--format", "xml"}, "--format is xml; expected text or json");
  ExpectUsageError({"search", "--format", "xml"},
                   "--format is xml; expected text, json, tsv or trec");
}

TEST(CommandLine, MissingAndSuperfluousValues) {
  ExpectUsageError({"train", "r.toml", "--output"}, "--output needs a value");
  ExpectUsageError({"train", "r.toml", "--threads="},
                   "--threads is empty; expected a whole number, 0 to 4096");
  ExpectUsageError({"train", "r.toml", "--set"}, "--set needs a value");
  ExpectUsageError({"train", "r.toml", "--quiet=x"}, "--quiet takes no value; found x");
  ExpectUsageError({"train"}, "RECIPE is required");
  ExpectUsageError({"serve"}, "MODEL|INDEX is required");
}

TEST(CommandLine, FlagsThatExcludeEachOther) {
  const std::string message = "--resume excludes --check; give one of them";
  ExpectUsageError({"train", "r.toml", "--resume", "--check"}, message);
  ExpectUsageError({"train", "r.toml", "--check", "--resume"}, message);
}

TEST(CommandLine, FlagsThatWouldDoNothing) {
  const std::vector<std::string> nothing_is_written[] = {
      {"--check-gradient-cache", "--output", "r"},
      {"--profile-steps", "3", "--output", "r"},
      {"--check", "--profile"},
      {"--check", "--profile-steps", "3"},
      {"--check-gradient-cache", "--profile"},
      {"--profile", "--profile-steps", "3"}};
  for (const std::vector<std::string>& flags : nothing_is_written) {
    std::vector<std::string> arguments = {"train", "r.toml"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(" excludes "));
  }
  const ProgramResult format = RunTandem({"train", "r.toml", "--format", "json"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_EQ(
      format.err,
      "error: --format is that of a table: give --profile, --profile-steps or --seeds with it\n");
}

TEST(CommandLine, VersionAndHelpAreCommandsToo) {
  EXPECT_EQ(RunTandem({"version"}).out, RunTandem({"--version"}).out);
  EXPECT_EQ(RunTandem({"help"}).out, RunTandem({"--help"}).out);
  for (const app::Command* command : app::Commands()) {
    const std::string name(command->name);
    const ProgramResult help = RunTandem({"help", name});
    EXPECT_EQ(help.exit_code, 0) << name;
    EXPECT_EQ(help.out, RunTandem({name, "--help"}).out) << name;
    EXPECT_NE(help.out.find("Usage: tandem " + name), std::string::npos) << help.out;
  }
  const ProgramResult misspelt = RunTandem({"help", "trian"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_NE(misspelt.err.find("did you mean train?"), std::string::npos) << misspelt.err;
}

TEST(CommandLine, VersionSaysWhereTheBackEndIs) {
  const ProgramResult absent =
      RunTandem({"--version"}, "", {{"TANDEM_BACK_END", "/no/such/libtandem-torch.so"}});
  EXPECT_EQ(absent.exit_code, 0) << absent.err;
  EXPECT_THAT(absent.out, HasSubstr("\nback end for GPUs and several processes: "
                                    "/no/such/libtandem-torch.so, which is not there\n"));
  const TemporaryFolder folder;
  const std::string path = folder.path() / "libtandem-torch.so";
  std::ofstream(path) << "nothing is loaded";
  const auto shown = [](const std::string& back_end) {
    return RunTandem({"--version"}, "", {{"TANDEM_BACK_END", back_end}}).out;
  };
  const std::string label = "\nback end for GPUs and several processes: ";
  EXPECT_THAT(shown(path), HasSubstr(label + path + ", which is no shared library\n"));
  const std::string of_folder = folder.path();
  EXPECT_THAT(shown(of_folder), HasSubstr(label + of_folder + ", which is no shared library\n"));
  const std::string program = TANDEM_BINARY;  // as whole as a library
  EXPECT_THAT(shown(program), HasSubstr(label + program + "\n"));
  const std::string half = folder.path() / "half.so";
  std::ofstream(half) << ReadFile(program).substr(0, 1 << 20);
  EXPECT_THAT(shown(half), HasSubstr(label + half + ", which is cut short (1048576 of "));
}

TEST(CommandLine, VersionSaysWhatKernelsTake) {
  const ProgramResult baseline = RunTandem({"--version"}, "", {{"TANDEM_ISA", "baseline"}});
  EXPECT_EQ(baseline.exit_code, 0) << baseline.err;
  EXPECT_THAT(baseline.out, testing::EndsWith("\nkernels: baseline (TANDEM_ISA); bf16 is not "
                                              "offered, int8 by 16-bit products\n"));
  const ProgramResult amx = RunTandem({"--version"}, "", {{"TANDEM_ISA", "amx"}});
  const std::string features = RunTandem({"--version"}).out;
  EXPECT_EQ(amx.exit_code, features.find(" amx_bf16") != std::string::npos ? 0 : 2);
  EXPECT_THAT(
      amx.exit_code == 0 ? amx.out : amx.err,
      HasSubstr(amx.exit_code == 0 ? "\nkernels: amx (TANDEM_ISA); bf16 by AMX-BF16, int8 by "
                                   : "TANDEM_ISA=amx asks for more than this machine has"));
  const ProgramResult wrong = RunTandem({"version"}, "", {{"TANDEM_ISA", "sse9"}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("TANDEM_ISA is baseline, avx2, avx512, avx512_bf16 or amx"));
}

// What the system says of a path that the user gave is no bug of the program.
TEST(CommandLine, PathsThatCannotBeReadAreTheUsers) {
  const TemporaryFolder folder;
  const std::string loop = (folder.path() / "loop").native();
  std::filesystem::create_symlink("loop", loop);
  const ProgramResult run = RunTandem({"evaluate", "--qrels", loop, "--run", loop});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.err, "error: " + loop + ": cannot be read: Too many levels of symbolic links\n");
  const ProgramResult inspected = RunTandem({"inspect", loop});
  EXPECT_EQ(inspected.exit_code, 3);
  EXPECT_EQ(inspected.err,
            "error: " + loop + ": cannot be used: Too many levels of symbolic links\n");
}

TEST(CommandLine, OneValueEachTime) {
  ExpectUsageError({"inspect", "m", "--format", "text", "--format", "json"},
                   "--format takes one value and got 2: text, json");
  ExpectUsageError({"train", "r.toml", "--set", "a=1", "more"}, "unknown argument more");
}

TEST(CommandLine, HelpShowsWordsRangesAndDefaults) {
  const ProgramResult result = RunTandem({"evaluate", "--help"});
  EXPECT_THAT(result.out, HasSubstr("--threads INT             Threads to use; 0: all that the "
                                    "machine gives [0 to 4096] [default: 0]\n"));
  EXPECT_THAT(result.out, HasSubstr("\n  --score-precision single|double\n"));
  EXPECT_THAT(result.out, HasSubstr("[default: double]"));
  EXPECT_THAT(result.out, HasSubstr(" [default: ndcg@10,mrr@10,map,recall@10,recall@100; with\n"
                                    "                            --model also auc]"));
}

// Help is compared to the letter too: its layout does not depend on that library either.
TEST(CommandLine, HelpOfACommand) {
  const std::string help = RunTandem({"tokenize", "--help"}).out;
  EXPECT_THAT(help, testing::StartsWith(
                        "Print the token ids of texts, as a model's tokenizer makes them\n\n"
                        "Usage: tandem tokenize --model TEXT [flags]\n\n"
                        "Flags:\n"
                        "  --model TEXT              Model folder with tokenizer.json or vocab.txt "
                        "(required)\n"));
  EXPECT_THAT(help, testing::EndsWith(
                        "  -q, --quiet               Only warnings and errors on stderr\n"
                        "  -h, --help                Print this help and exit\n\n"
                        "Reads texts from standard input, one per line (a line ends at \\n only), "
                        "and prints the\ntoken ids of each, separated by spaces.\n\n"
                        "Examples:\n"
                        "  # Print a line of ids for each line\n"
                        "  tandem tokenize --model models/all-MiniLM-L6-v2 < lines.txt\n"
                        "  # Print the ids that queries get, prompt and limit included\n"
                        "  tandem tokenize --model models/all-MiniLM-L6-v2 --kind query < "
                        "lines.txt\n"));
  EXPECT_THAT(RunTandem({"inspect", "--help"}).out, HasSubstr("\nArguments:\n  PATH  "));
  for (const app::Command* command : app::Commands()) {
    std::istringstream lines(RunTandem({"help", std::string(command->name)}).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("Usage: ")) continue;  // one line, however long
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

TEST(CommandLine, HelpShowsArgumentsInCapitals) {
  const auto usage = [](const std::string& line) { return HasSubstr("\nUsage: tandem " + line); };
  EXPECT_THAT(RunTandem({"serve", "--help"}).out, usage("serve MODEL|INDEX [flags]\n"));
  EXPECT_THAT(RunTandem({"train", "--help"}).out, usage("train RECIPE [flags]\n"));
  EXPECT_THAT(RunTandem({"search", "--help"}).out, usage("search [INDEX] [TEXT...] [flags]\n"));
  EXPECT_THAT(RunTandem({"index", "build", "--help"}).out,
              usage("index build MODEL DOCUMENTS... --"));
  EXPECT_THAT(RunTandem({"completion", "--help"}).out, usage("completion bash|zsh|fish [flags]\n"));
}

}  // namespace
}  // namespace tandem
