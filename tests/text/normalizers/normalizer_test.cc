// Normalizers: examples, and the cuts that each allows. The expected forms are those of the
// `tokenizers` package (0.23.3).
#include "text/normalizers/normalizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "text/generated_texts.h"
#include "text/load/tokenizer_json.h"
#include "text/normalizers/normal_form.h"
#include "text/normalizers/replace.h"
#include "text/normalizers/strip.h"

namespace tandem::text {
namespace {

using nlohmann::json;

std::string Form(const Normalizer& normalizer, std::string_view text) {
  std::string form;
  normalizer.Normalize(text, &form);
  return form;
}

std::unique_ptr<const Normalizer> ReadOne(const json& spec) {
  const json document = {{"normalizer", spec},
                         {"model",
                          {{"type", "Unigram"},
                           {"unk_id", 0},
                           {"vocab", json::array({json::array({"<unk>", 0.0})})}}}};
  return ReadTokenizerJson(document.dump(), "t").normalizer;
}

TEST(Normalizer, NormalForms) {
  const NormalForm nfc({.compatible = false, .compose = true});
  const NormalForm nfd({.compatible = false, .compose = false});
  const NormalForm nfkc({.compatible = true, .compose = true});
  const NormalForm nfkd({.compatible = true, .compose = false});
  EXPECT_EQ(Form(nfc, "e\u0301a"), "\u00e9a");
  EXPECT_EQ(Form(nfc, "a\u0323\u0302"), "\u1ead");
  EXPECT_EQ(Form(nfc, "a\u0302\u0323"), "\u1ead");  // reordered before it is composed
  EXPECT_EQ(Form(nfc, "a\u0301\u0300"), "\u00e1\u0300");
  EXPECT_EQ(Form(nfc, "a\u0305\u0301"), "a\u0305\u0301");  // blocked by a mark of the same class
  EXPECT_EQ(Form(nfc, "\u2126"), "\u03a9");                // a singleton
  EXPECT_EQ(Form(nfc, "\u1100\u1161\u11a8"), "\uac01");
  EXPECT_EQ(Form(nfc, "\uac00\u11a8"), "\uac01");
  EXPECT_EQ(Form(nfc, "\u0958"), "\u0915\u093c");  // excluded from composition
  EXPECT_EQ(Form(nfd, "\u1ead\uac01"), "a\u0323\u0302\u1100\u1161\u11a8");
  EXPECT_EQ(Form(nfkc, "\ufb01\u00b2\uff76\uff9e"), "fi2\u30ac");
  EXPECT_EQ(Form(nfkd, "\ufb01\u00b2\u00bd"), "fi21\u20442");
  EXPECT_EQ(Form(nfkc, ""), "");
}

TEST(Normalizer, StripsAndReplaces) {
  EXPECT_EQ(Form(Strip({.strip_left = true, .strip_right = true}), " \u3000a b\n "), "a b");
  EXPECT_EQ(Form(Strip({.strip_left = true, .strip_right = false}), " a "), "a ");
  EXPECT_EQ(Form(Strip({.strip_left = false, .strip_right = true}), " a\u00a0"), " a");
  EXPECT_EQ(Form(Strip({.strip_left = true, .strip_right = true}), " \t\u2003"), "");
  EXPECT_EQ(Form(StripAccents(), "e\u0301\u0903x\u20dd"), "ex");
  EXPECT_EQ(Form(Nmt(), "a\x01\tb\u200bc\u2581d\u007f"), "a b c d");
  EXPECT_EQ(Form(Replace(MakeStringPattern("aa"), "b"), "aaaaa"), "bba");
  EXPECT_EQ(Form(Replace(MakeRegexPattern(" {2,}"), " "), "a  b   c d    "), "a b c d ");
  EXPECT_EQ(Form(Replace(MakeRegexPattern("\\s+"), " "), "a \u3000 b\n\n \x1c\u200b c"),
            "a b \x1c\u200b c");
  EXPECT_EQ(Form(Prepend("x"), ""), "");
  EXPECT_EQ(Form(Prepend("x"), "a"), "xa");
}

// Writing " \x85" in UTF-8: U+0085 is white space for regular expressions.
TEST(Normalizer, NextLineIsWhiteSpace) {
  EXPECT_EQ(Form(Replace(MakeRegexPattern("\\s+"), "_"), "a\u0085 b"), "a_b");
}

// The law of Cuts (text/pre_tokenizers/cuts.h), for each normalizer that is read.
RC_GTEST_PROP(Normalizer, PartsGiveTheFormOfTheWhole, (uint64_t left, uint64_t right)) {
  static const auto normalizers = [] {
    std::vector<std::pair<std::string, std::unique_ptr<const Normalizer>>> made;
    const json specs =
        json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/text/golden/normalizers.json"));
    for (const auto& [name, spec] : specs.items()) made.emplace_back(name, ReadOne(spec));
    return made;
  }();
  const std::string first = ClusterText(left);
  std::string second(1, ' ');
  second += ClusterText(right);
  for (const auto& [name, normalizer] : normalizers) {
    if (normalizer->cuts() == Cuts::kNowhere) continue;
    for (const std::string end : {"", "a", "Z", "`", "."}) {
      if (end.empty() && normalizer->cuts() != Cuts::kAtSpaces) continue;
      const std::string before = Form(*normalizer, first + end);
      const std::string behind = Form(*normalizer, second);
      RC_LOG() << name;
      RC_ASSERT(Form(*normalizer, first + end + second) == before + behind);
      RC_ASSERT(behind.front() == ' ');
      RC_ASSERT(end.empty() || (before.back() > ' ' && before.back() <= '~'));
    }
  }
}

TEST(Normalizer, WhatAllowsCuts) {
  const auto cuts = [](const char* pattern, const char* content) {
    return Replace(MakeStringPattern(pattern), content).cuts();
  };
  EXPECT_EQ(cuts("``", "\""), Cuts::kAtSpaces);
  EXPECT_EQ(cuts("\u00e9", " "), Cuts::kAtSpaces);
  EXPECT_EQ(cuts("a", ""), Cuts::kNowhere);
  EXPECT_EQ(cuts("a", "\u00e9"), Cuts::kNowhere);
  EXPECT_EQ(cuts(" ", "\u2581"), Cuts::kNowhere);
  EXPECT_EQ(Replace(MakeRegexPattern(" {2,}"), " ").cuts(), Cuts::kAfterAscii);
  EXPECT_EQ(Replace(MakeRegexPattern(" {2,}"), "_").cuts(), Cuts::kNowhere);
  EXPECT_EQ(Replace(MakeRegexPattern("a+"), " ").cuts(), Cuts::kNowhere);
}

}  // namespace
}  // namespace tandem::text
