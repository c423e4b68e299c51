// Messages as JSON, for programs that start this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/json/json.h"
#include "base/json/json_reader.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

const std::map<std::string, std::string> kAsJson = {{"TANDEM_MESSAGES", "json"}};

std::vector<Json> Records(const std::string& err) {
  std::vector<Json> records;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) records.push_back(ParseJson(line));
  return records;
}

// The record of the error by which a command ends, its only message.
Json ErrorOf(const std::vector<std::string>& arguments) {
  const ProgramResult result = RunTandem(arguments, "", kAsJson);
  const std::vector<Json> records = Records(result.err);
  EXPECT_EQ(records.size(), 1) << result.err;
  EXPECT_EQ(records.back()["exit_code"], Json(result.exit_code));
  return records.back();
}

TEST(MessagesAsJson, ErrorsHaveTheirClassAndFacts) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const char* text) {
    WriteFileAtomically(folder.path() / name, text);
    return (folder.path() / name).native();
  };
  const std::string recipe = write("r.toml", "[model]\nbase = 3\n");
  EXPECT_EQ(ErrorOf({"train", recipe, "--output", (folder.path() / "run").native()}),
            Json({{"message", "error"},
                  {"text", recipe + ":2:8: model.base must be a string, found integer 3"},
                  {"class", "RecipeError"},
                  {"exit_code", 2},
                  {"file", recipe},
                  {"line", 2},
                  {"column", 8},
                  {"key", "model.base"}}));
  const std::string lines = write("bad.jsonl", "{\"query\": \"a\", \"positive\": \"b\"}\n{}\n");
  const Json of_data = ErrorOf({"inspect", lines});
  EXPECT_EQ(of_data["class"], Json("DataError"));
  EXPECT_EQ(of_data["file"], Json(lines));
  EXPECT_EQ(of_data["line"], Json(2));
  const Json of_model = ErrorOf({"encode", "--model", folder.path().native(), "--input", lines,
                                 "--output", (folder.path() / "out").native()});
  EXPECT_EQ(of_model["class"], Json("ModelError"));
  EXPECT_EQ(ErrorOf({"train", recipe, "--nosuch"}), Json({{"message", "error"},
                                                          {"text", "unknown flag --nosuch"},
                                                          {"class", "UsageError"},
                                                          {"exit_code", 2}}));
}

TEST(MessagesAsJson, BytesThatAreNotUtf8AreReplaced) {
  const Json error = ErrorOf({"inspect", "no\xffsuch.jsonl"});
  EXPECT_THAT(error.Dump(), testing::HasSubstr("no\xEF\xBF\xBDsuch.jsonl"));
}

TEST(MessagesAsJson, AnotherFormIsRefused) {
  const ProgramResult result = RunTandem({"list", "measures"}, "", {{"TANDEM_MESSAGES", "xml"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: TANDEM_MESSAGES is xml; expected text or json\n");
  EXPECT_EQ(RunTandem({"list", "measures"}, "", {{"TANDEM_MESSAGES", "text"}}).exit_code, 0);
  EXPECT_EQ(RunTandem({"list", "measures"}, "", {{"TANDEM_MESSAGES", ""}}).exit_code, 0);
}

}  // namespace
}  // namespace tandem
