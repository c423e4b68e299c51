// Normalizers and pre-tokenizers against those of the `tokenizers` package, as hashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/test_data.h"
#include "text/golden.h"
#include "text/load/tokenizer_json.h"
#include "text/normalizers/charsmap.h"
#include "text/normalizers/precompiled.h"
#include "text/pre_tokenizers/metaspace.h"
#include "text/pre_tokenizers/pre_tokenizer_sequence.h"
#include "text/pre_tokenizers/white_space.h"

namespace tandem::text {
namespace {

using nlohmann::json;
using Sets = std::map<std::string, std::vector<std::string>>;

const GoldenFile& NormalizerHashes() {
  static const GoldenFile hashes("normalizers.tsv");
  return hashes;
}

// The generated texts; those of random bytes repaired, as a tokenizer does before all else.
const Sets& Texts() {
  static const Sets sets = [] {
    Sets made = GeneratedSets();
    for (std::string& text : made["bytes"]) text = RepairUtf8(text);
    return made;
  }();
  return sets;
}

std::unique_ptr<const Normalizer> ReadOne(const json& spec) {
  const json document = {{"normalizer", spec},
                         {"model",
                          {{"type", "Unigram"},
                           {"unk_id", 0},
                           {"vocab", json::array({json::array({"<unk>", 0.0})})}}}};
  return ReadTokenizerJson(document.dump(), "t").normalizer;
}

void ExpectForms(const std::string& name, const Normalizer& normalizer) {
  for (const auto& [kind, texts] : Texts()) {
    Crc crc;
    std::string form;
    for (const std::string& text : texts) {
      form.clear();
      normalizer.Normalize(text, &form);
      crc.AddString(form);
    }
    NormalizerHashes().Expect(name + "/" + kind, texts.size(), crc);
  }
}

TEST(NormalizerGolden, FormsOfEachNormalizer) {
  const json specs = json::parse(ReadFile(std::string(kGolden) + "/normalizers.json"));
  EXPECT_GT(specs.size(), 20U);
  for (const auto& [name, spec] : specs.items()) ExpectForms(name, *ReadOne(spec));
}

TEST(NormalizerGolden, FormsOfT5sCharacterMap) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const json file =
      json::parse(ReadFile(*shared / "data/tokenizers/json/t5-pipeline/tokenizer.json"));
  ExpectForms("Precompiled/t5", *ReadOne(file["normalizer"]));
}

// Every third character has a value, so that it shows where grapheme clusters end.
TEST(NormalizerGolden, FormsOfAGeneratedCharacterMap) {
  CharsmapBuilder map;
  const auto add = [&](char32_t c, const std::string& behind, const std::string& value) {
    std::string key;
    AppendUtf8(c, &key);
    map.Add(key + behind, value);
  };
  for (char32_t c = 3; c < 0x11000; c += 3) {
    if (!IsSurrogate(c)) add(c, "", fmt::format("<{:X}>", static_cast<uint32_t>(c)));
  }
  for (char32_t c = 0x42; c < 0x250; ++c) {
    if (c % 7 == 1) add(c, "\u0301", "Y");
  }
  for (const char32_t c : {0x1F1E6, 0x1F600, 0x110BD}) add(c, "", "");
  ExpectForms("Precompiled/generated", Precompiled(map.Build()));
}

void ExpectWords(const std::string& name, const PreTokenizer& splitter) {
  for (const auto& [kind, texts] : Texts()) {
    Crc crc;
    Words words;
    for (const std::string& text : texts) {
      const std::string padded = text + std::string(kWordPadding, '\0');
      words.Clear();
      splitter.Split(std::string_view(padded).substr(0, text.size()), true, &words);
      for (const std::string_view word : words.views()) crc.AddString(word);
    }
    NormalizerHashes().Expect("words/" + name + "/" + kind, texts.size(), crc);
  }
}

TEST(NormalizerGolden, WordsOfEachPreTokenizer) {
  using Prepend = MetaspaceOptions::Prepend;
  ExpectWords("Whitespace", Whitespace());
  ExpectWords("WhitespaceSplit", WhitespaceSplit());
  ExpectWords("Metaspace", Metaspace({}));
  ExpectWords("Metaspace/whole", Metaspace({.prepend_scheme = Prepend::kFirst, .split = false}));
  ExpectWords("Metaspace/never",
              Metaspace({.replacement = "a", .prepend_scheme = Prepend::kNever}));
  std::vector<std::unique_ptr<const PreTokenizer>> stages;
  stages.push_back(std::make_unique<WhitespaceSplit>());
  stages.push_back(std::make_unique<Metaspace>(MetaspaceOptions()));
  ExpectWords("T5", PreTokenizerSequence(std::move(stages)));
}

}  // namespace
}  // namespace tandem::text
