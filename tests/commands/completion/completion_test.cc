// Completions and manual pages say what the help says: every command, flag and word.
#include "commands/completion/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "cli/cli.h"
#include "cli/help/man_page.h"
#include "commands/catalogues.h"
#include "commands/commands.h"
#include "support/temporary_folder.h"

namespace tandem::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using Kind = ValueCompletion::Kind;

void ForEachCommand(const CommandDescription& command,
                    const std::function<void(const CommandDescription&)>& visit) {
  visit(command);
  for (const CommandDescription& one : command.commands) ForEachCommand(one, visit);
}

// What `begin` and `end` enclose in a script.
std::string Part(const std::string& script, const std::string& begin, const std::string& end) {
  const size_t at = script.find(begin);
  if (at == std::string::npos) return "";
  return script.substr(at, script.find(end, at + begin.size()) - at);
}

// Every command of the catalogue, each with its own and the global flags.
TEST(CommandDescription, HoldsEveryCommand) {
  const CommandDescription program = DescribeProgram(Commands());
  std::vector<std::string> names;
  for (const CommandDescription& command : program.commands) {
    names.push_back(command.ShortName());
    ForEachCommand(command, [](const CommandDescription& one) {
      std::vector<std::string> flags;
      for (const FlagDescription& flag : one.flags) {
        flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      }
      EXPECT_THAT(flags, Contains("--help")) << one.name;
      if (one.commands.empty()) {
        EXPECT_THAT(flags, IsSupersetOf({"-q", "--quiet", "--seed", "--threads"})) << one.name;
      }
    });
  }
  std::vector<std::string> expected;
  for (const config::Catalogue& catalogue : AllCatalogues()) {
    if (catalogue.name != "commands") continue;
    for (const config::EntryInfo* entry : catalogue.entries) expected.emplace_back(entry->name);
  }
  EXPECT_EQ(names, expected);
}

// Each command shows two examples or more, which call it by its name with flags that it has.
TEST(CommandDescription, ExamplesAreOfTheirCommands) {
  ForEachCommand(DescribeProgram(Commands()), [](const CommandDescription& command) {
    if (!command.commands.empty()) return;
    EXPECT_GE(command.examples.size(), 2U) << command.name;
    for (const Example& example : command.examples) {
      const std::string line = std::string(example.line) + " ";
      size_t at = line.find(command.name + " ");
      if (command.name == "tandem version" && at == line.npos) at = line.find("tandem --version");
      ASSERT_NE(at, line.npos) << line;
      std::istringstream words(line.substr(at + command.name.size()));
      for (std::string word; words >> word && word != "|" && word != ">";) {
        if (!word.starts_with("--")) continue;
        const auto has = [&](const FlagDescription& flag) {
          return std::find(flag.names.begin(), flag.names.end(), word) != flag.names.end();
        };
        EXPECT_TRUE(std::any_of(command.flags.begin(), command.flags.end(), has)) << line << word;
      }
    }
  });
}

// Whether `text` has `flag` as a whole: "--model" and not "--model-name".
bool HasFlag(std::string_view text, std::string_view flag) {
  for (size_t at = text.find(flag); at != text.npos; at = text.find(flag, at + 1)) {
    const char after = at + flag.size() < text.size() ? text[at + flag.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '-') return true;
  }
  return false;
}

// The lines of `text` that hold `part`.
std::string LinesWith(std::string_view text, const std::string& part) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (line.find(part) != line.npos) lines += line;
    text.remove_prefix(end);
  }
  return lines;
}

TEST(Completion, EveryFlagOfEveryCommandInEveryShell) {
  const CommandDescription program = DescribeProgram(Commands());
  const std::string bash = BashCompletion(program), zsh = ZshCompletion(program);
  const std::string fish = FishCompletion(program);
  ForEachCommand(program, [&](const CommandDescription& command) {
    const std::string route = command.Route();
    const std::string in_bash = Part(bash, fmt::format("\n    \"{}\")\n", route), "fi ;;");
    const std::string in_zsh = Part(zsh, fmt::format("\n    (\"{}\")\n", route), " ;;");
    const char* const where = command.commands.empty() ? "at" : "is";
    const std::string in_fish = LinesWith(fish, fmt::format("-n '__tandem_{}{}'", where, route));
    for (const FlagDescription& flag : command.flags) {
      const std::string& name = flag.names.back();
      if (flag.argument) continue;
      EXPECT_TRUE(HasFlag(in_bash, name)) << command.name << " " << name;
      EXPECT_TRUE(HasFlag(in_zsh, name)) << command.name << " " << name;
      EXPECT_TRUE(HasFlag(in_fish, "-l " + name.substr(2))) << command.name << " " << name;
      for (const std::string& word : CompletionOf(flag).words) {
        for (const std::string* script : {&in_bash, &in_zsh, &in_fish}) {
          EXPECT_NE(script->find(word), std::string::npos) << command.name << " " << name << word;
        }
      }
    }
  });
}

TEST(Completion, GoesByWhatTheHelpShowsForAValue) {
  const auto completion = [](const std::string& value) {
    return CompletionOf({.names = {"--flag"}, .value = value});
  };
  EXPECT_EQ(completion("").kind, Kind::kNothing);
  EXPECT_EQ(completion("INT").kind, Kind::kNothing);
  EXPECT_EQ(completion("TEXT").kind, Kind::kFiles);
  EXPECT_EQ(completion("FOLDER").kind, Kind::kFolders);
  EXPECT_THAT(completion("text|json").words, ElementsAre("text", "json"));
  EXPECT_THAT(completion("COMMAND").words, IsSupersetOf({"train", "help"}));
  EXPECT_EQ(completion("MEASURES").kind, Kind::kList);
  EXPECT_THAT(completion("MEASURES").words, IsSupersetOf({"ndcg", "auc"}));
  EXPECT_THAT(completion("CATALOGUE").words, IsSupersetOf({"objectives", "keys"}));
  EXPECT_THAT(completion("NAME").words, IsSupersetOf({"mann_whitney", "train.batch"}));
  EXPECT_THAT(completion("KEY=VALUE").words, Contains("train.batch="));
}

// What bash offers for the last of `words`.
std::vector<std::string> BashOffers(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "completion", BashCompletion(DescribeProgram(Commands())));
  WriteFileAtomically(folder.path() / "a_file", "");
  std::filesystem::create_directory(folder.path() / "a_folder");
  WriteFileAtomically(folder.path() / "run",
                      fmt::format("cd '{0}'; . ./completion\n"
                                  "COMP_WORDS=(tandem '{1}') COMP_CWORD={2}\n_tandem\n"
                                  "for word in \"${{COMPREPLY[@]}}\"; do echo \"$word\"; done\n",
                                  folder.path().native(), fmt::join(words, "' '"), words.size()));
  FILE* output =
      ::popen(fmt::format("bash '{}' 2>&1", (folder.path() / "run").native()).c_str(), "r");
  std::vector<std::string> offers(1);
  for (int c = 0; (c = std::fgetc(output)) != EOF;) {
    if (c == '\n') {
      offers.emplace_back();
    } else {
      offers.back() += static_cast<char>(c);
    }
  }
  EXPECT_EQ(::pclose(output), 0);
  offers.pop_back();
  return offers;
}

TEST(Completion, BashOffersWhatFits) {
  EXPECT_THAT(BashOffers({"trai"}), ElementsAre("train"));
  EXPECT_THAT(BashOffers({"train", "--resu"}), ElementsAre("--resume"));
  EXPECT_THAT(BashOffers({"train", "--precision", "b"}), ElementsAre("bf16"));
  EXPECT_THAT(BashOffers({"train", "--precision", "=", "b"}), ElementsAre("bf16"));
  EXPECT_THAT(BashOffers({"train", "--seed", ""}), IsEmpty());
  EXPECT_THAT(BashOffers({"train", "a_"}), testing::UnorderedElementsAre("a_file", "a_folder"));
  EXPECT_THAT(BashOffers({"train", "--set", "train.bat"}), Contains("train.batch="));
  EXPECT_THAT(BashOffers({"evaluate", "--measures", "mrr,ndc"}), Contains("mrr,ndcg"));
  EXPECT_THAT(BashOffers({"explain", "mann"}), ElementsAre("mann_whitney"));
  EXPECT_THAT(BashOffers({"search", "--embeddings", "a_"}), ElementsAre("a_folder"));
  EXPECT_THAT(BashOffers({"encode", "--output", "a_"}),
              testing::UnorderedElementsAre("a_file", "a_folder"));
  EXPECT_THAT(BashOffers({"serve", "a_"}), ElementsAre("a_folder"));
}

TEST(ManPage, HasEveryFlagOfEveryCommand) {
  const CommandDescription program = DescribeProgram(Commands());
  const std::string overview = ProgramManPage(program);
  for (const CommandDescription& command : program.commands) {
    EXPECT_THAT(overview, HasSubstr("\\fB" + ManText(command.ShortName()) + "\\fR\n"));
    const std::string page = CommandManPage(command);
    ForEachCommand(command, [&](const CommandDescription& one) {
      for (const FlagDescription& flag : one.flags) {
        if (&one == &command && !command.commands.empty()) continue;  // only --help
        const std::string name = ManText(flag.argument ? flag.Synopsis() : flag.names.back());
        EXPECT_THAT(page,
                    HasSubstr(flag.argument ? "\\fI" + name + "\\fR" : "\\fB" + name + "\\fR"))
            << one.name;
        EXPECT_THAT(page, HasSubstr(ManText(flag.text))) << one.name << " " << name;
      }
    });
  }
}

TEST(ManPage, TextIsNoRequest) {
  EXPECT_EQ(ManText(".so /etc/passwd"), "\\&.so /etc/passwd");
  EXPECT_EQ(ManText("a\n.b\n'c"), "a\n\\&.b\n\\&\\(aqc");
  EXPECT_EQ(ManText("\\fB--x\\fR"), "\\efB\\-\\-x\\efR");
}

}  // namespace
}  // namespace tandem::app
