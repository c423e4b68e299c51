#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "cli/help/command_app.h"
#include "cli/help/help_text.h"
#include "cli/help/usage_message.h"
#include "cli/process/memory_problem.h"
#include "cli/process/signal_watch.h"
#include "cli/terminal.h"
#include "cli/version.h"

namespace tandem::app {

namespace {

void AddGlobalFlags(Flags& flags, Globals& globals) {
  flags.Add("--threads", globals.threads, "Threads to use; 0: all that the machine gives")
      .Between(0, 4096)
      .ShowDefault();
  flags.Add("--seed", globals.seed, "Names every random stream; wins over the recipe's `seed`")
      .Between(0, std::numeric_limits<int64_t>::max());
  flags
      .Add(
          "--precision", globals.precision,
          "Arithmetic of matrix products: auto, fp32, bf16, int8 (default: $TANDEM_PRECISION, else "
          "for train auto, and never int8, for others fp32), or with a CUDA device also fp16 and "
          "tf32")
      .OneOf({"auto", "fp32", "bf16", "int8", "fp16", "tf32"});
  flags.Add(
      "--device", globals.device,
      "Where the model is computed: cpu, cuda or cuda:N (train: the recipe's `device`; others: "
      "cpu)");
  flags.AddSwitch("-q,--quiet", globals.quiet, "Only warnings and errors on stderr");
}

// Suggests the nearest flag or command for an unknown word on the command line.
std::string Suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  if (word.rfind('-', 0) == 0) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return DidYouMean(word, views);
}

// Returns the command that the command line names, or the part of it that is named.
const CLI::App& ActiveApp(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : ActiveApp(*chosen.front());
}

// Returns the words after `tandem` that name a command, such as " index build".
std::string CommandWords(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? "" : CommandWords(*parent) + " " + app.get_name();
}

// The request that the command line makes.
struct Asked {
  Globals globals;
  CommandBody run;  // null: no command is named
};

void AddCommand(const Command& command, CLI::App& parent, Asked* asked) {
  CLI::App* sub = parent.add_subcommand(std::make_shared<CommandApp>(
      std::string(command.summary), std::string(command.name), parent, command.examples));
  if (command.parts != nullptr) {
    sub->require_subcommand(0, 1);
    sub->parse_complete_callback([asked, sub] {
      if (!sub->get_subcommands().empty()) return;
      asked->run = [sub](const Globals&) { std::cout << sub->help(); };
    });
    for (const Command* part : command.parts()) AddCommand(*part, *sub, asked);
    sub->footer(
        fmt::format("`tandem {} COMMAND --help` prints the flags of a command.", command.name));
    return;
  }
  Flags flags(*sub);
  sub->parse_complete_callback([asked, body = command.configure(flags)] { asked->run = body; });
  AddGlobalFlags(flags, asked->globals);
}

// Says what an empty word that nothing takes is: the value of a switch (`--quiet=`), or itself.
std::string UnknownEmptyWord(const CLI::App& active, std::span<const char* const> words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view next = words[i + 1];
    const CLI::Option* option = active.get_option_no_throw(words[i]);
    if (!next.empty() || option == nullptr || option->get_items_expected_max() > 0) continue;
    return fmt::format("{} takes no value; found an empty one", words[i]);
  }
  return "unknown argument \"\"";
}

int ReportUsage(const CLI::App& app, std::span<const char* const> words, std::string message) {
  const CLI::App& active = ActiveApp(app);
  // An unknown word is reported first, because a misspelt flag explains why a required one is
  // missing.
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string& word = extras.front();
    const bool flag = word.rfind('-', 0) == 0;
    const std::string name = word.substr(0, word.find('='));
    const bool command = !flag && !active.get_subcommands({}).empty();
    message = fmt::format("unknown {} {}{}", flag ? "flag" : (command ? "command" : "argument"),
                          name, flag || command ? Suggestion(active, name) : "");
    if (word.empty()) message = UnknownEmptyWord(active, words);
  }
  Terminal::Get().Error(message, UsageError(message));
  if (!Terminal::Get().json()) {
    std::fputs(
        fmt::format("Run `tandem{} --help` for what there is.\n", CommandWords(active)).c_str(),
        stderr);
  }
  return static_cast<int>(ExitCode::kUsage);
}

// Says what went wrong, in the words of the error or in those that say more; returns the exit code.
int Report(const Error& error, const std::string& message) {
  Terminal::Get().Error(message, error);
  return static_cast<int>(error.exit_code());
}

int Report(const Error& error) { return Report(error, error.what()); }

// Runs `body` and turns whatever it throws into a message and an exit code.
int RunGuarded(const std::function<void()>& body) {
  try {
    body();
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) {
      throw OutputError("standard output", "cannot be written", errno);
    }
    return static_cast<int>(ExitCode::kOk);
  } catch (const MemoryError& error) {
    return Report(error, MemoryProblem(error));
  } catch (const Error& error) {
    return Report(error);
  } catch (const std::filesystem::filesystem_error& error) {
    // The system refused a path that the user gave: no permission, a loop of links, a name that is
    // too long.
    return Report(DataError(error.path1().native(), 0, "",
                            fmt::format("cannot be used: {}", error.code().message())));
  } catch (const std::bad_alloc&) {  // of a container: nobody knows how many bytes
    const MemoryError error(0);
    return Report(error, MemoryProblem(error));
  } catch (const std::exception& error) {
    return Report(Error(ExitCode::kInternal, fmt::format("internal error: {}", error.what())));
  }
}

constexpr const char* kSummary =
    "Trains, evaluates and searches with dual-encoder retrievers (embedding models).";

// Adds all flags and commands; parsing then fills `asked`.
void SetUp(CommandTable commands, CLI::App& app, Asked* asked) {
  app.formatter(MakeHelpText());
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag(
      "--version", [] { return VersionText(); },
      "Print the versions of Tandem and its libraries, and what the processor can do, and exit");
  app.require_subcommand(0, 1);
  for (const Command* command : commands) AddCommand(*command, app, asked);
  // Set last, because the commands would inherit it.
  app.footer("`tandem COMMAND --help` prints the flags of a command.");
}

// The command line with `--flag=` as the two words `--flag` and ``: CLI11 would take the next word
// for the flag's value.
std::vector<std::string> WithEmptyValues(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool flags = true;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    flags = flags && word != "--";
    const bool is_empty = flags && word.starts_with("--") && word.find('=') + 1 == word.size();
    if (is_empty) word.pop_back();
    words.push_back(std::move(word));
    if (is_empty) words.emplace_back();
  }
  return words;
}

}  // namespace

CommandDescription DescribeProgram(CommandTable commands) {
  CLI::App app(kSummary, "tandem");
  Asked asked;
  SetUp(commands, app, &asked);
  return DescribeCommand(app, "tandem");
}

int RunCommandLine(CommandTable commands, int argc, const char* const* argv) {
  CLI::App app(kSummary, "tandem");
  Asked asked;
  SetUp(commands, app, &asked);
  const std::vector<std::string> words = WithEmptyValues(argc, argv);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto after_name = std::span<const char* const>(arguments).subspan(1);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& success) {
    return app.exit(success, std::cout, std::cerr);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, after_name, UsageMessage(ActiveApp(app), error, after_name));
  } catch (const UsageError& error) {  // flags.cc refuses a value
    return ReportUsage(app, after_name, error.what());
  }
  if (!asked.run) {
    std::cout << app.help();
    return static_cast<int>(ExitCode::kOk);
  }
  Terminal::Get().set_quiet(asked.globals.quiet);
  SetMessageSink(&Terminal::Get());
  CleanUpOnSignals();
  return RunGuarded([&] {
    Terminal::CheckForm();
    asked.run(asked.globals);
  });
}

}  // namespace tandem::app
