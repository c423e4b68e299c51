#include "weights/settings/prompt_choice.h"

#include <gtest/gtest.h>

#include "support/error_matching.h"

namespace tandem::weights {
namespace {

ModelFolder WithPrompts() {
  ModelFolder folder;
  folder.path = "models/some";
  folder.prompts = {{"query", "Q: "}, {"document", ""}, {"sts", "Instruct: same\nQuery: "}};
  return folder;
}

TEST(ChoosePrompt, TakesANameOrAText) {
  const ModelFolder folder = WithPrompts();
  EXPECT_EQ(ChoosePrompt(folder, "query"), "Q: ");
  EXPECT_EQ(ChoosePrompt(folder, "document"), "");
  EXPECT_EQ(ChoosePrompt(folder, "sts"), "Instruct: same\nQuery: ");
  EXPECT_EQ(ChoosePrompt(folder, "query: "), "query: ");
  EXPECT_EQ(ChoosePrompt(folder, ""), "");
}

TEST(ChoosePrompt, UnderstandsEscapes) {
  const ModelFolder folder = WithPrompts();
  EXPECT_EQ(ChoosePrompt(folder, R"(Instruct: find it\nQuery: )"), "Instruct: find it\nQuery: ");
  EXPECT_EQ(ChoosePrompt(folder, "Instruct: find it\nQuery: "), "Instruct: find it\nQuery: ");
  EXPECT_EQ(ChoosePrompt(folder, R"(a\tb \\n \x \)"), "a\tb \\n \\x \\");
}

TEST(ChoosePrompt, AMisspeltNameIsNoText) {
  ExpectError([] { ChoosePrompt(WithPrompts(), "qeury"); }, ExitCode::kUsage,
              {"models/some: has no prompt named qeury; it has document, query, sts; did you mean "
               "query?"});
  ExpectError([] { ChoosePrompt(WithPrompts(), "retrieval_2"); }, ExitCode::kUsage,
              {"has no prompt named retrieval_2", "A text may be given too, as \"retrieval_2: \""});
}

TEST(PromptOnOneLine, ReadsBack) {
  for (const char* prompt : {"Instruct: a\nQuery: ", "a\tb\\n ", " plain"}) {
    const std::string line = PromptOnOneLine(prompt);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(ChoosePrompt(WithPrompts(), line), prompt);
  }
}

}  // namespace
}  // namespace tandem::weights
