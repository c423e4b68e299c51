// tokenizer.json with BPE: spellings, what contradicts itself, what is not supported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// [BOS] and a b c ab, with "ab" merged; words are split at spaces that are dropped.
json Document() {
  return json::parse(R"({
    "version": "1.0", "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed",
                      "invert": false},
    "post_processor": null,
    "model": {"type": "BPE", "dropout": null, "unk_token": null,
              "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
              "byte_fallback": false, "ignore_merges": false,
              "vocab": {"[BOS]": 0, "a": 1, "b": 2, "c": 3, "ab": 4}, "merges": ["a b"]}})");
}

std::vector<int32_t> Ids(const json& document, const std::string& text) {
  std::vector<int32_t> ids;
  PipelineTokenizer(ReadTokenizerJson(document.dump(), "file")).Encode(text, 0, &ids);
  return ids;
}

template <typename Change>
void ExpectBpeErrorAfter(const Change& change, const std::string& message) {
  json document = Document();
  change(document);
  try {
    ReadTokenizerJson(document.dump(), "file");
    FAIL() << "accepted; expected: " << message;
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("file: "));
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(BpeJson, MergesInBothSpellings) {
  json document = Document();
  EXPECT_THAT(Ids(document, "ab cab"), ElementsAre(4, 3, 4));
  document["model"]["merges"] = json::array({json::array({"a", "b"})});
  EXPECT_THAT(Ids(document, "ab cab"), ElementsAre(4, 3, 4));
  document["model"]["dropout"] = 0.0;
  document["model"].erase("ignore_merges");
  EXPECT_THAT(Ids(document, "ab"), ElementsAre(4));
}

TEST(BpeJson, MergesOutOfForm) {
  for (const json& merge : {json("a"), json("a b c"), json(""), json(3), json(nullptr), json({"a"}),
                            json({"a", "b", "c"}), json({"a", 2})}) {
    ExpectBpeErrorAfter(
        [&](json& d) {
          d["model"]["merges"] = json::array({"a b", merge});
        },
        "model.merges: merge 1 has not the form \"a b\" or [\"a\", \"b\"]");
  }
  ExpectBpeErrorAfter([](json& d) { d["model"]["merges"] = "a b"; },
                      "model.merges: expected an array, found a string");
  ExpectBpeErrorAfter([](json& d) { d["model"].erase("merges"); }, "model: \"merges\" is missing");
}

TEST(BpeJson, TokensThatAreMissing) {
  ExpectBpeErrorAfter(
      [](json& d) {
        d["model"]["merges"] = {"a b", "ab x"};
      },
      "model.merges[1]: \"ab\" and \"x\" cannot merge: \"x\" is not in the vocabulary");
  ExpectBpeErrorAfter(
      [](json& d) { d["model"]["merges"] = {"b c"}; },
      "model.merges[0]: \"b\" and \"c\" cannot merge: \"bc\" is not in the vocabulary");
  ExpectBpeErrorAfter([](json& d) { d["model"]["unk_token"] = "<unk>"; },
                      "the unknown token \"<unk>\" is not in the vocabulary");
  ExpectBpeErrorAfter([](json& d) { d["model"]["vocab"] = json::object(); },
                      "model.vocab: the vocabulary is empty");
}

TEST(BpeJson, Vocabularies) {
  ExpectBpeErrorAfter([](json& d) { d["model"]["vocab"]["c"] = 2; },
                      "id 2 belongs to two tokens, \"b\" and \"c\"");
  ExpectBpeErrorAfter([](json& d) { d["model"]["vocab"]["c"] = -1; }, "token \"c\" has id -1");
  ExpectBpeErrorAfter([](json& d) { d["model"]["vocab"]["c"] = "3"; },
                      "model.vocab.\"c\": expected an integer, found a string");
  std::string twice = Document().dump();
  twice.replace(twice.find("\"a\":1"), 5, "\"a\":1,\"a\":9");
  EXPECT_THROW(ReadTokenizerJson(twice, "file"), ModelError);
}

TEST(BpeJson, SettingsThatAreNotSupported) {
  ExpectBpeErrorAfter(
      [](json& d) { d["model"]["dropout"] = 0.1; },
      "model.dropout: 0.1 is not supported; ids would be random. Expected null or 0");
  ExpectBpeErrorAfter([](json& d) { d["model"]["dropout"] = "0"; },
                      "model.dropout: expected a number, found a string");
  ExpectBpeErrorAfter([](json& d) { d["model"]["fuse_unk"] = 1; },
                      "model.fuse_unk: expected true or false, found an integer");
  ExpectBpeErrorAfter([](json& d) { d["pre_tokenizer"]["behavior"] = "isolated"; },
                      "pre_tokenizer.behavior: behavior \"isolated\" is not supported; supported: "
                      "Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
  ExpectBpeErrorAfter(
      [](json& d) {
        d["pre_tokenizer"]["pattern"] = {{"Regex", "(?<n>a)"}};
      },
      "pre_tokenizer.pattern.Regex: the pattern `(?<n>a)` is not supported: the group "
      "\"(?<n\" is not supported");
  ExpectBpeErrorAfter(
      [](json& d) {
        d["pre_tokenizer"]["pattern"] = {{"Regex", "(?<=a*)b"}};
      },
      "the pattern `(?<=a*)b` is not supported: ");
  ExpectBpeErrorAfter([](json& d) { d["pre_tokenizer"]["pattern"] = json::object(); },
                      "pre_tokenizer.pattern: \"Regex\" is missing");
}

// What ByteLevel writes is read as bytes only by a BPE model after it, and only where it is last.
TEST(BpeJson, ByteLevelThatIsNotLast) {
  json document = Document();
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}};
  document["model"]["vocab"] = {{"\u0120", 0}, {"a", 1}, {"\u0120a", 2}};
  document["model"]["merges"] = {"\u0120 a"};
  document["pre_tokenizer"] = byte_level;
  EXPECT_THAT(Ids(document, "a"), ElementsAre(2));
  const json split = {{"type", "Split"},
                      {"pattern", {{"String", "\u0120"}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  document["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {byte_level, split}}};
  EXPECT_THAT(Ids(document, "a"), ElementsAre(0, 1));
  document["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}};
  EXPECT_THAT(Ids(document, "a"), ElementsAre(2));
}

TEST(BpeJson, PostProcessors) {
  json document = Document();
  const json roberta = {{"type", "RobertaProcessing"},
                        {"sep", {"b", 2}},
                        {"cls", {"a", 1}},
                        {"trim_offsets", true},
                        {"add_prefix_space", false}};
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
  const json pieces = {{{"SpecialToken", {{"id", "[BOS]"}, {"type_id", 0}}}},
                       {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  const json bos = {{"type", "TemplateProcessing"},
                    {"single", pieces},
                    {"pair", json::array()},
                    {"special_tokens", {{"[BOS]", {{"id", "[BOS]"}, {"ids", {0}}}}}}};
  document["post_processor"] = roberta;
  EXPECT_THAT(Ids(document, "c"), ElementsAre(1, 3, 2));
  document["post_processor"] = byte_level;
  EXPECT_THAT(Ids(document, "c"), ElementsAre(3));
  document["post_processor"] = {{"type", "Sequence"}, {"processors", {byte_level, bos}}};
  EXPECT_THAT(Ids(document, "c"), ElementsAre(0, 3));
  document["post_processor"] = {{"type", "Sequence"}, {"processors", {roberta, bos}}};
  EXPECT_THAT(Ids(document, "c"), ElementsAre(0, 1, 3, 2));
  document["post_processor"]["processors"][0]["sep"] = {"b", 77};
  try {
    Ids(document, "c");
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("post_processor: id 77 is not in the vocabulary"));
  }
}

}  // namespace
}  // namespace tandem::text
