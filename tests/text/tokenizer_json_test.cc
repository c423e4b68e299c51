// Broken and unsupported tokenizer.json files: each is a ModelError that says what and where.
#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"

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
  ExpectError("{\"model\": \"\xFF\"}", "is not valid JSON");
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
  ExpectErrorAfter([](json& d) { d["normalizer"]["type"] = "NFKC"; },
                   "normalizer: normalizer \"NFKC\" is not supported; supported: BertNormalizer");
  ExpectErrorAfter([](json& d) { d["pre_tokenizer"]["type"] = "Punctuation"; },
                   "pre-tokenizer \"Punctuation\" is not supported; supported: BertPreTokenizer");
  ExpectErrorAfter([](json& d) { d["model"]["type"] = "Unigram"; },
                   "model \"Unigram\" is not supported; supported: WordPiece");
  ExpectErrorAfter([](json& d) { d["post_processor"]["type"] = "RobertaProcessing"; },
                   "post-processor \"RobertaProcessing\" is not supported; supported: "
                   "TemplateProcessing, BertProcessing");
  ExpectErrorAfter(
      [](json& d) {
        d["model"].erase("type");
        d["model"]["merges"] = json::array();
      },
      "model \"BPE\" is not supported");
  ExpectErrorAfter([](json& d) { d["version"] = "2.0"; },
                   "version: expected \"1.0\", found \"2.0\"");
}

TEST(TokenizerJson, AModelWithoutTypeIsRecognisedByItsFields) {
  json document = json::parse(ReadFixture());
  document["model"].erase("type");
  EXPECT_NO_THROW(ReadTokenizerJson(document.dump(), "t"));
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
  ExpectErrorAfter([&](json& d) { d["post_processor"]["single"] = {second}; },
                   "expected sequence A, found B");
  ExpectErrorAfter([](json& d) { d["post_processor"]["special_tokens"]["[CLS]"]["ids"] = {77777}; },
                   "id 77777 is not in the vocabulary, whose largest id is 53");
  const json bert = {{"type", "BertProcessing"}, {"sep", {"[SEP]"}}, {"cls", {"[CLS]", 2}}};
  ExpectErrorAfter([&](json& d) { d["post_processor"] = bert; },
                   "post_processor.sep: expected a token and its id");
}

}  // namespace
}  // namespace tandem::text
