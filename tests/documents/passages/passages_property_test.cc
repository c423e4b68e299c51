// Passages of any text: none is too long, and put together they are the text.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/passages/passages.h"
#include "documents/reading/markdown.h"
#include "support/error_matching.h"

namespace tandem::documents {
namespace {

// Like a tokenizer: a token for every four bytes of a word, two special tokens.
size_t CountTokens(std::string_view text) {
  size_t tokens = 2, letters = 0;
  for (const char c : text) {
    const bool letter = !IsWhiteSpace(c);
    if (letter && letters % 4 == 0) ++tokens;
    letters = letter ? letters + 1 : 0;
  }
  return tokens;
}

// Markdown of headings, long and short sentences, lists and words that no passage can hold.
rc::Gen<std::string> AnyMarkdown() {
  const auto piece = rc::gen::element<std::string>(
      "\n\n# Title\n\n", "\n\n## A section\n\n", "\n\n### Deeper\n\n", "Short. ", "One two three. ",
      "A sentence of some words that goes on for a while, and then ends. ", "\n\n", "\n- item\n",
      "no end ", "ünïcödé wörds. ", "你好世界你好世界你好世界你好世界。",
      "averyveryveryveryveryveryveryveryveryveryveryverylongwordthatnopassagecanholdwhole ");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& one : pieces) text += one;
                        return text;
                      });
}

RC_GTEST_PROP(Passages, LoseNothingAndFit, ()) {
  Document document = ReadMarkdown(*AnyMarkdown(), "p.md");
  if (*rc::gen::arbitrary<bool>())
    document.title = "a title of rather many words, too long for any";
  const size_t most = *rc::gen::inRange<size_t>(10, 60);
  const size_t overlap = *rc::gen::inRange<size_t>(0, (most - 2) / 2 + 1);
  const PassageCutter cutter({.most_tokens = most, .overlap = overlap}, CountTokens);
  const std::string title = cutter.TitleOf(document);
  std::string together;
  size_t end = 0;
  for (const Passage& passage : cutter.Cut(document)) {
    RC_ASSERT(passage.own == end);  // no gap and no part twice
    RC_ASSERT(passage.span.begin <= passage.own);
    RC_ASSERT(passage.own < passage.span.end || document.text.empty());
    end = passage.span.end;
    together += document.text.substr(passage.own, passage.span.end - passage.own);
    const std::string text(document.Of(Trimmed(document.text, passage.span)));
    RC_ASSERT(CountTokens(title.empty() ? text : title + " " + text) <= most);
    const std::string repeated(document.Of({passage.span.begin, passage.own}));
    RC_ASSERT(CountTokens(repeated) - 2 <= overlap);
  }
  RC_ASSERT(together == document.text);
}

std::vector<std::string> CutText(const std::string& markdown, const PassageOptions& options) {
  const Document document = ReadMarkdown(markdown, "p.md");
  std::vector<std::string> texts;
  for (const Passage& passage : PassageCutter(options, CountTokens).Cut(document)) {
    texts.emplace_back(document.Of(Trimmed(document.text, passage.span)));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Passages, EndBetweenSentences) {
  EXPECT_EQ(CutText("Aa bb cc. Dd ee ff. Gg hh ii. Jj.", {.most_tokens = 10}),
            (Texts{"Aa bb cc. Dd ee ff.", "Gg hh ii. Jj."}));
  EXPECT_EQ(CutText("Aa bb. Cc dd. Ee ff. Gg hh.", {.most_tokens = 10, .overlap = 2}),
            (Texts{"Aa bb. Cc dd. Ee ff. Gg hh."}));
  EXPECT_EQ(CutText("Aa bb cc. Dd ee. Ff gg hh ii. Jj kk ll.", {.most_tokens = 11, .overlap = 4}),
            (Texts{"Aa bb cc. Dd ee. Ff gg hh ii.", "Ff gg hh ii. Jj kk ll."}));
}

// The first heading of two is no title, so that both are in the text.
TEST(Passages, SectionsBeginTheirOwnWhereTheLastIsHalfFull) {
  EXPECT_EQ(
      CutText("# T\n\n# U\n\naa bb cc dd ee.\n\n# V\n\nFf gg. Hh ii jj.", {.most_tokens = 12}),
      (Texts{"T\n\nU\n\naa bb cc dd ee.", "V\n\nFf gg. Hh ii jj."}));
  EXPECT_EQ(CutText("# T\n\n# U\n\naa.\n\n# V\n\nFf gg hh. Ii jj kk ll.", {.most_tokens = 12}),
            (Texts{"T\n\nU\n\naa.\n\nV\n\nFf gg hh.", "Ii jj kk ll."}));
}

TEST(Passages, HeadingsEndNone) {
  EXPECT_EQ(CutText("# T\n\n# U\n\naa.\n\n# V\n\ngg hh ii jj kk ll mm nn.", {.most_tokens = 11}),
            (Texts{"T\n\nU\n\naa.", "V\n\ngg hh ii jj kk ll mm nn."}));
}

TEST(Passages, OverlapStaysInItsSection) {
  EXPECT_EQ(CutText("# T\n\n# U\n\nAa bb cc dd. Ee ff.\n\n# V\n\nGg hh ii. Jj.",
                    {.most_tokens = 11, .overlap = 4}),
            (Texts{"T\n\nU\n\nAa bb cc dd. Ee ff.", "V\n\nGg hh ii. Jj."}));
}

TEST(Passages, NoTextIsOneEmptyPassage) {
  EXPECT_EQ(CutText("", {.most_tokens = 10}), (Texts{""}));
}

TEST(Passages, NeedRoom) {
  ExpectError(
      [] { PassageCutter({.most_tokens = 9}, CountTokens); }, ExitCode::kUsage,
      {"--passage-tokens is 9, of which special tokens and the prompt take 2; give at least "
       "10"});
  ExpectError([] { PassageCutter({.most_tokens = 10, .overlap = 5}, CountTokens); },
              ExitCode::kUsage, {"--passage-overlap is 5; expected at most 4"});
}

// A sentence without end of 4 MB takes time in proportion to its length.
TEST(Passages, CutLongSentencesQuickly) {
  Document document;
  while (document.text.size() < size_t{4} << 20) document.text += "word ";
  document.blocks = ParagraphsOf(document.text);
  const auto passages = PassageCutter({.most_tokens = 256}, CountTokens).Cut(document);
  EXPECT_NEAR(static_cast<double>(passages.size()), (4 << 20) / 5 / 254.0, 2);
}

}  // namespace
}  // namespace tandem::documents
