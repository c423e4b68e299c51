// A switch over an enum of ours has no `default:`, so that the compiler names an enumerator that
// was forgotten (-Wswitch).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace tandem {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

size_t Indentation(const std::string& line) { return line.find_first_not_of(' '); }

// Whether the labels of the switch whose `default:` is line `at` are enumerators of ours: kName.
bool IsOverOurEnum(const std::vector<std::string>& lines, size_t at) {
  static const std::regex label(R"( *case (\w+::)*k[A-Z]\w*:.*)");
  const size_t indentation = Indentation(lines[at]);
  for (size_t i = at; i-- > 0;) {
    const size_t of_line = Indentation(lines[i]);
    if (of_line == indentation && std::regex_match(lines[i], label)) return true;
    if (of_line < indentation && lines[i].find("switch (") != std::string::npos) return false;
  }
  return false;
}

std::vector<std::string> Defaults(const std::vector<std::string>& lines, const std::string& name) {
  static const std::regex label(R"( *default:.*)");
  std::vector<std::string> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_match(lines[i], label) && IsOverOurEnum(lines, i)) {
      found.push_back(name + ":" + std::to_string(i + 1));
    }
  }
  return found;
}

TEST(Switches, OverOurEnumsHaveNoDefault) {
  EXPECT_EQ(Defaults({"  switch (kind) {", "    case Kind::kOne:", "      return 1;",
                      "    default:", "      return 2;", "  }"},
                     "x"),
            std::vector<std::string>{"x:4"});
  EXPECT_TRUE(Defaults({"  switch (c) {", "    case 'k':", "      return 1;", "    default:"}, "x")
                  .empty());
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TANDEM_SOURCE_DIR) / "src")) {
    if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
    ++files;
    for (const std::string& place : Defaults(LinesOf(entry.path()), entry.path().native())) {
      ADD_FAILURE() << place << ": a switch over an enum of ours names every enumerator";
    }
  }
  EXPECT_GT(files, 1000u);
}

}  // namespace
}  // namespace tandem
