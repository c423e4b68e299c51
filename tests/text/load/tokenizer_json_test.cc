// Broken and unsupported tokenizer.json files: each is a ModelError that says what and where.
#include "text/load/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"

namespace tandem::text {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string ReadFixture() {
  return ReadFile(TANDEM_SOURCE_DIR "/tests/text/golden/added_uncased.json");
}

void ExpectError(const std::string& text, const std::string& message) {
  try {
    ReadTokenizerJson(text, "m/tokenizer.json");
    FAIL() << "accepted; expected: " << message;
  } catch (const ModelError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kModel);
    EXPECT_THAT(error.what(), HasSubstr("m/tokenizer.json: "));
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

void ExpectErrorAfter(const std::function<void(json&)>& change, const std::string& message) {
  json document = json::parse(ReadFixture());
  change(document);
  ExpectError(document.dump(), message);
}

TEST(TokenizerJson, NotJson) {
  ExpectError("", "is not valid JSON");
  ExpectError("{\"version\": ", "is not valid JSON");
  ExpectError("[1, 2]", "expected an object, found an array");
  ExpectError("{}", "\"model\" is missing");
  ExpectError(std::string(100000, '['), "is not valid JSON");
  ExpectError("{\"model\": \"\xFF\"}", "is not valid UTF-8");
  ExpectError("{\"model\": {\"type\": \"\\ud800\"}}", "is not valid JSON");
}

TEST(TokenizerJson, EveryTruncationOfTheFile) {
  const std::string text = ReadFixture();
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(ReadTokenizerJson(text.substr(0, size), "t"), ModelError) << size;
  }
  EXPECT_NO_THROW(ReadTokenizerJson(text, "t"));
}

TEST(TokenizerJson, UnsupportedComponentsAreNamedWithTheSupportedOnes) {
  ExpectErrorAfter([](json& d) { d["normalizer"]["type"] = "Cyrillic"; },
                   "normalizer: normalizer \"Cyrillic\" is not supported; supported: "
                   "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, "
                   "Prepend, Replace, Sequence, Strip, StripAccents");
  ExpectErrorAfter(
      [](json& d) {
        d["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFX"}}}}};
      },
      "normalizer.normalizers[0]: normalizer \"NFX\" is not supported");
  ExpectErrorAfter([](json& d) { d["pre_tokenizer"]["type"] = "CharDelimiterSplit"; },
                   "pre-tokenizer \"CharDelimiterSplit\" is not supported; supported: "
                   "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, "
                   "Whitespace, WhitespaceSplit");
  ExpectErrorAfter([](json& d) { d["model"]["type"] = "WordLevel"; },
                   "model \"WordLevel\" is not supported; supported: BPE, Unigram, WordPiece");
  ExpectErrorAfter([](json& d) { d["post_processor"]["type"] = "Other"; },
                   "post-processor \"Other\" is not supported; supported: TemplateProcessing, "
                   "BertProcessing, ByteLevel, RobertaProcessing, Sequence");
  ExpectErrorAfter([](json& d) { d["version"] = "2.0"; },
                   "version: expected \"1.0\", found \"2.0\"");
}

TEST(TokenizerJson, AModelWithoutTypeIsRecognisedByItsFields) {
  json document = json::parse(ReadFixture());
  document["model"].erase("type");
  EXPECT_NO_THROW(ReadTokenizerJson(document.dump(), "t"));
  document["model"]["merges"] = {"[CLS]"};
  ExpectError(document.dump(), "model.merges: merge 0 has not the form");
}

TEST(TokenizerJson, WrongTypesAndMissingFields) {
  ExpectErrorAfter([](json& d) { d["model"]["vocab"] = json::array(); },
                   "model.vocab: expected an object, found an array");
  ExpectErrorAfter([](json& d) { d["model"].erase("vocab"); }, "model: \"vocab\" is missing");
  ExpectErrorAfter([](json& d) { d["model"]["unk_token"] = 3; },
                   "model.unk_token: expected a string, found an integer");
  ExpectErrorAfter([](json& d) { d["model"]["max_input_chars_per_word"] = 2.5; },
                   "max_input_chars_per_word: expected an integer, found a fraction");
  ExpectErrorAfter([](json& d) { d["model"]["max_input_chars_per_word"] = -1; },
                   "found a negative one");
  ExpectErrorAfter([](json& d) { d["normalizer"]["lowercase"] = "yes"; },
                   "normalizer.lowercase: expected true or false, found a string");
  ExpectErrorAfter([](json& d) { d["normalizer"].erase("clean_text"); },
                   "normalizer: \"clean_text\" is missing");
  ExpectErrorAfter([](json& d) { d["added_tokens"][4]["id"] = "4"; },
                   "added_tokens[4].id: expected an integer, found a string");
  ExpectErrorAfter([](json& d) { d["added_tokens"][1].erase("lstrip"); },
                   "added_tokens[1]: \"lstrip\" is missing");
  ExpectErrorAfter([](json& d) { d["added_tokens"] = 1; },
                   "added_tokens: expected an array, found an integer");
}

TEST(TokenizerJson, Vocabularies) {
  ExpectErrorAfter([](json& d) { d["model"]["vocab"] = json::object(); },
                   "the vocabulary is empty");
  ExpectErrorAfter([](json& d) { d["model"]["vocab"]["b"] = 5; },
                   "id 5 belongs to two tokens, \"a\" and \"b\"");
  ExpectErrorAfter([](json& d) { d["model"]["vocab"]["b"] = -1; },
                   "token \"b\" has id -1; ids must be from 0 to 4194303");
  ExpectErrorAfter([](json& d) { d["model"]["vocab"]["b"] = 4194304; },
                   "token \"b\" has id 4194304");
  ExpectErrorAfter([](json& d) { d["model"]["vocab"]["b"] = 1e40; },
                   "model.vocab.\"b\": expected an integer");
  ExpectErrorAfter([](json& d) { d["model"]["unk_token"] = "[OTHER]"; },
                   "the unknown token \"[OTHER]\" is not in the vocabulary");
  std::string twice = ReadFixture();
  twice.replace(twice.find("\"a\": 5"), 6, "\"a\": 5, \"a\": 900");
  ExpectError(twice, "token \"a\" has two ids, 5 and 900");
}

json UnigramModel() {
  return {{"type", "Unigram"},
          {"unk_id", 0},
          {"vocab", json::array({json::array({"<unk>", 0.0}), json::array({"a", -1})})}};
}

TEST(TokenizerJson, UnigramModels) {
  const auto expect = [](const std::function<void(json&)>& change, const std::string& message) {
    json document = {{"model", UnigramModel()}};
    change(document["model"]);
    ExpectError(document.dump(), message);
  };
  EXPECT_NO_THROW(ReadTokenizerJson(json{{"model", UnigramModel()}}.dump(), "t"));
  expect([](json& m) { m["unk_id"] = 2; },
         "model.unk_id: 2 is not in the vocabulary; expected 0 to 1 or null");
  expect([](json& m) { m["unk_id"] = -1; },
         "model.unk_id: -1 is not in the vocabulary; expected 0 to 1 or null");
  expect([](json& m) { m["unk_id"] = 0.5; }, "model.unk_id: expected an integer, found a fraction");
  expect([](json& m) { m["vocab"] = json::array(); }, "model.vocab: the vocabulary is empty");
  expect([](json& m) { m["vocab"] = json::object(); },
         "model.vocab: expected an array, found an object");
  expect([](json& m) { m["vocab"][1][1] = "-1"; },
         "model.vocab[1][1]: expected a number, found a string");
  expect([](json& m) { m["vocab"][1][1] = nullptr; },
         "model.vocab[1][1]: expected a number, found null");
  expect([](json& m) { m["vocab"][1][0] = 7; },
         "model.vocab[1][0]: expected a string, found an integer");
  expect([](json& m) { m["vocab"][1] = json::array({"a"}); },
         "model.vocab[1]: expected a token and its score, found 1 values");
  expect(
      [](json& m) {
        m["vocab"][1] = json::array({"a", 1, 2});
      },
      "model.vocab[1]: expected a token and its score, found 3 values");
  expect([](json& m) { m["vocab"][1] = "a"; }, "model.vocab[1]: expected an array, found a string");
  expect([](json& m) { m.erase("vocab"); }, "model: \"vocab\" is missing");
  expect([](json& m) { m["byte_fallback"] = 1; },
         "model.byte_fallback: expected true or false, found an integer");
  std::string infinite = json{{"model", UnigramModel()}}.dump();
  infinite.replace(infinite.find("-1"), 2, "1e999");
  ExpectError(infinite, "is not valid JSON");
}

TEST(TokenizerJson, Normalizers) {
  const auto expect = [](const json& normalizer, const std::string& message) {
    ExpectError(json{{"normalizer", normalizer}, {"model", UnigramModel()}}.dump(), message);
  };
  const auto precompiled = [](const std::string& map) {
    return json{{"type", "Precompiled"}, {"precompiled_charsmap", map}};
  };
  expect(precompiled("AAA"),
         "normalizer.precompiled_charsmap: expected base64 with padding, found something else");
  expect(precompiled(""),
         "normalizer.precompiled_charsmap: the map is broken: it ends before the "
         "size of its array");
  expect(precompiled("AAAAAA=="), "the map is broken: its array has 0 bytes, of 0 that are left");
  expect(precompiled("CAAAAAAAAAA="),
         "the map is broken: its array has 8 bytes, of 4 that are left");
  expect({{"type", "Precompiled"}}, "normalizer: \"precompiled_charsmap\" is missing");
  expect({{"type", "Strip"}, {"strip_left", true}}, "normalizer: \"strip_right\" is missing");
  expect({{"type", "Prepend"}}, "normalizer: \"prepend\" is missing");
  const auto replace = [](const json& pattern) {
    return json{{"type", "Replace"}, {"pattern", pattern}, {"content", "x"}};
  };
  expect(replace("a"), "normalizer.pattern: expected an object, found a string");
  expect(replace({{"String", ""}}), "normalizer.pattern.String: the pattern is empty");
  expect(replace({{"Text", "a"}}), "normalizer.pattern: \"String\" is missing");
  for (const auto& [regex, why] : std::map<std::string, std::string>{
           {"(a|b", "a group is not closed"},
           {"a**", "a quantifier has nothing to repeat, or follows another one"},
           {"(?<name>a)", "the group \"(?<n\" is not supported"},
           {"\\X", "the escape \"\\X\" is not supported"}}) {
    expect(replace({{"Regex", regex}}),
           "normalizer.pattern.Regex: the pattern `" + regex + "` is not supported: " + why);
  }
}

TEST(TokenizerJson, Metaspaces) {
  const auto expect = [](json fields, const std::string& message) {
    fields["type"] = "Metaspace";
    const json document = {{"pre_tokenizer", fields}, {"model", UnigramModel()}};
    if (message.empty()) {
      EXPECT_NO_THROW(ReadTokenizerJson(document.dump(), "t")) << fields;
    } else {
      ExpectError(document.dump(), message);
    }
  };
  expect({{"replacement", "_"}, {"add_prefix_space", true}, {"str_rep", "_"}}, "");
  expect({{"replacement", "_"}, {"add_prefix_space", false}}, "");
  expect({{"replacement", "_"}, {"add_prefix_space", false}, {"prepend_scheme", "never"}}, "");
  expect({{"replacement", "_"}, {"add_prefix_space", false}, {"prepend_scheme", "first"}},
         "pre_tokenizer.add_prefix_space: false contradicts prepend_scheme \"first\"");
  expect(
      {{"replacement", "_"}, {"prepend_scheme", "last"}},
      "pre_tokenizer.prepend_scheme: expected \"always\", \"first\" or \"never\", found \"last\"");
  expect({{"replacement", "ab"}},
         "pre_tokenizer.replacement: expected one character, found \"ab\"");
  expect({{"replacement", ""}}, "pre_tokenizer.replacement: expected one character, found \"\"");
  expect(json::object(), "pre_tokenizer: \"replacement\" is missing");
  expect({{"replacement", "_"}, {"split", "no"}},
         "pre_tokenizer.split: expected true or false, found a string");
}

TEST(TokenizerJson, AddedTokens) {
  ExpectErrorAfter([](json& d) { d["added_tokens"][2]["id"] = 3; },
                   "added_tokens[2]: \"[CLS]\" has id 3; expected 2, its id in the vocabulary");
  ExpectErrorAfter([](json& d) { d["added_tokens"][5]["id"] = 999; },
                   "\"<x>\" has id 999; expected 45, the next one that is free");
  ExpectErrorAfter([](json& d) { d["added_tokens"][6]["content"] = "<x>"; },
                   "\"<x>\" is added twice");
  ExpectErrorAfter([](json& d) { d["added_tokens"][7]["content"] = "\u0301"; },
                   "is empty once it is normalised");
  ExpectErrorAfter([](json& d) { d["added_tokens"][0]["id"] = -7; }, "id -7 is out of range");
}

TEST(TokenizerJson, PostProcessors) {
  const json special = {{"SpecialToken", {{"id", "[XXX]"}, {"type_id", 0}}}};
  const json sequence = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json second = {{"Sequence", {{"id", "B"}, {"type_id", 0}}}};
  ExpectErrorAfter(
      [&](json& d) {
        d["post_processor"]["single"] = {special, sequence};
      },
      "\"[XXX]\" is missing in post_processor.special_tokens");
  ExpectErrorAfter(
      [&](json& d) {
        d["post_processor"]["single"] = {sequence, sequence};
      },
      "expected the text (sequence A) once, found it 2 times");
  ExpectErrorAfter([&](json& d) { d["post_processor"]["single"] = json::array(); },
                   "found it 0 times");
  ExpectErrorAfter([&](json& d) { d["post_processor"]["single"] = json::array({second}); },
                   "expected sequence A, found B");
  ExpectErrorAfter([](json& d) { d["post_processor"]["special_tokens"]["[CLS]"]["ids"] = {77777}; },
                   "id 77777 is not in the vocabulary, whose largest id is 53");
  const json bert = {{"type", "BertProcessing"}, {"sep", {"[SEP]"}}, {"cls", {"[CLS]", 2}}};
  ExpectErrorAfter([&](json& d) { d["post_processor"] = bert; },
                   "post_processor.sep: expected a token and its id");
}

}  // namespace
}  // namespace tandem::text
