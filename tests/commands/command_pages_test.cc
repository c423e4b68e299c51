// docs/cli has a page for each command, and the page names every flag of the command's help.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "support/run_tandem.h"

namespace tandem {
namespace {

const std::filesystem::path kPages = std::filesystem::path(TANDEM_SOURCE_DIR) / "docs" / "cli";

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const auto& entry :
       nlohmann::json::parse(RunTandem({"list", "commands", "--format", "json"}).out)) {
    names.push_back(entry["name"]);
  }
  return names;
}

// The long flags that `help` has a line for.
std::vector<std::string> FlagsOf(const std::string& help) {
  static const std::regex line("(?:^|\n)  (?:-[a-z], )?(--[a-z-]+)");
  std::vector<std::string> flags;
  for (std::sregex_iterator match(help.begin(), help.end(), line), last; match != last; ++match) {
    flags.push_back((*match)[1]);
  }
  return flags;
}

// Not as the beginning of a longer one.
bool Names(const std::string& page, const std::string& flag) {
  return std::regex_search(page, std::regex(flag + "(?![a-z-])"));
}

void ExpectFlags(std::vector<std::string> command, const std::string& page) {
  command.insert(command.begin(), "help");
  const std::vector<std::string> flags = FlagsOf(RunTandem(command).out);
  EXPECT_FALSE(flags.empty()) << command.back();
  for (const std::string& flag : flags) {
    EXPECT_TRUE(Names(page, flag)) << command.back() << ": " << flag;
  }
}

TEST(CommandPages, NameEveryFlag) {
  const std::string shared = ReadFile(kPages / "README.md");
  const std::vector<std::string> names = CommandNames();
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const std::string page = ReadFile(kPages / (name + ".md"));
    EXPECT_TRUE(page.starts_with("# tandem " + name + "\n")) << name << ": " << page.substr(0, 40);
    EXPECT_NE(shared.find("(" + name + ".md)"), std::string::npos) << name;
    ExpectFlags({name}, page + shared);
  }
  const std::string index = ReadFile(kPages / "index.md") + shared;
  for (const char* part : {"build", "add", "remove", "compact", "export", "info"}) {
    ExpectFlags({"index", part}, index);
  }
}

}  // namespace
}  // namespace tandem
