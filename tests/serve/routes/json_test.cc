// What comes in and goes out as JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "serve/bodies/api_error.h"
#include "serve/bodies/embeddings.h"
#include "serve/bodies/json_writer.h"
#include "serve/fake_backend.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A request of POST to `path`, and what it wants encoded.
struct Parsed {
  RequestTexts texts;
  std::unique_ptr<PostedRequest> request;
};

Parsed ParseAt(std::string_view path, std::string body, const RequestLimits& limits = {},
               const Backend& backend = FakeBackend(/*with_index=*/true)) {
  Parsed parsed;
  parsed.request = FindRoute(path)->post();
  parsed.request->Parse(&body, backend, limits, &parsed.texts);
  return parsed;
}

// The answer where text number i has the embedding [i, 1, 0, …].
std::string AnswerOf(const Parsed& parsed, const Backend& backend = FakeBackend(true)) {
  const size_t width = backend.info().width;
  std::vector<float> rows(parsed.texts.texts.size() * width);
  for (size_t i = 0; i < parsed.texts.texts.size(); ++i) {
    rows[i * width] = static_cast<float>(i);
    rows[i * width + 1] = 1;
  }
  return parsed.request->Answer({.encoded = {.rows = rows, .width = width},
                                 .backend = backend,
                                 .limits = {},
                                 .embed = [](auto) { return std::vector<float>(); },
                                 .milliseconds = [] { return 1.5; }});
}

std::string ErrorAt(std::string_view path, std::string body, const RequestLimits& limits = {}) {
  try {
    ParseAt(path, std::move(body), limits);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.code() + ": " + error.what();
  }
  return "";
}

std::string SearchError(std::string body) { return ErrorAt("/search", std::move(body)); }

std::string Parse(std::string body) {
  return ErrorAt("/v1/embeddings", std::move(body), {.texts = 3});
}

TEST(JsonRequestTest, ReadsOpenAiEmbeddings) {
  const Parsed full = ParseAt("/v1/embeddings", R"({"input": ["a", "ü\u0000b"], "model": "fake",
    "encoding_format": "base64", "dimensions": 3, "user": "u", "input_type": "query",
    "something_new": {"x": [1]}})");
  EXPECT_THAT(full.texts.texts, ElementsAre("a", std::string("ü\0b", 4)));
  EXPECT_THAT(full.texts.kinds, ElementsAre(TextKind::kQuery, TextKind::kQuery));
  const auto rows = nlohmann::json::parse(AnswerOf(full))["data"];
  EXPECT_EQ(DecodeBase64(rows[0]["embedding"].get<std::string>())->size(), 3 * sizeof(float));
  const Parsed plain = ParseAt("/v1/embeddings", R"({"input": "", "dimensions": null})");
  EXPECT_THAT(plain.texts.texts, ElementsAre(""));
  EXPECT_THAT(plain.texts.kinds, ElementsAre(TextKind::kDocument));
  EXPECT_EQ(nlohmann::json::parse(AnswerOf(plain))["data"][0]["embedding"].size(),
            FakeBackend::kWidth);
}

TEST(JsonRequestTest, NumbersThatNobodyReadsMayBeOfAnySize) {
  for (const char* number : {"123456789012345678901234567890", "-9223372036854775809", "1e999"}) {
    const std::string body = fmt::format(R"({{"input": ["a", "b"], "seed": {}}})", number);
    EXPECT_THAT(ParseAt("/v1/embeddings", body).texts.texts, ElementsAre("a", "b")) << number;
  }
  EXPECT_THAT(Parse(R"({"input": "a", "dimensions": 123456789012345678901234567890})"),
              HasSubstr("`dimensions` must be an integer from 1 to"));
  EXPECT_THAT(Parse(R"({"input": "a", "seed": NaN})"),
              HasSubstr("in `seed`: NaN is no number of JSON"));
}

TEST(JsonRequestTest, SaysWhatIsWrong) {
  EXPECT_THAT(Parse(""), HasSubstr("the body is empty"));
  EXPECT_THAT(Parse("{\"input\": "),
              HasSubstr("the body is not valid JSON: column 11, in `input`: the text ends"));
  EXPECT_THAT(Parse("[1]"), HasSubstr("must be a JSON object, found an array"));
  EXPECT_THAT(Parse("{}"), HasSubstr("`input` is missing"));
  EXPECT_THAT(Parse(R"({"input": []})"), HasSubstr("`input` is empty"));
  EXPECT_THAT(Parse(R"({"input": 7})"), HasSubstr("found a number"));
  EXPECT_THAT(Parse(R"({"input": [1, 2]})"), HasSubstr("token ids"));
  EXPECT_THAT(Parse(R"({"input": [[1], [2]]})"), HasSubstr("token ids"));
  EXPECT_THAT(Parse(R"({"input": ["a", null]})"), HasSubstr("`input[1]` must be a string"));
  EXPECT_THAT(Parse(R"({"input": ["a", "b", "c", "d"]})"), HasSubstr("more than 3 texts"));
  EXPECT_THAT(Parse(R"({"input": "a", "input": "b"})"), HasSubstr("comes twice"));
  EXPECT_THAT(Parse(R"({"input": "a", "encoding_format": "hex"})"), HasSubstr("\"base64\""));
  EXPECT_THAT(Parse(R"({"input": "a", "dimensions": 0})"), HasSubstr("from 1 to"));
  EXPECT_THAT(Parse(R"({"input": "a", "dimensions": 1.5})"), HasSubstr("from 1 to"));
  EXPECT_THAT(Parse(R"({"input": "a", "input_type": "passage"})"), HasSubstr("\"document\""));
  EXPECT_THAT(Parse("{\"input\": \"\xFF\"}"), HasSubstr("not valid UTF-8: the byte 0xFF"));
  EXPECT_THAT(Parse(R"({"input": ["a", "\ud800"]})"),
              HasSubstr("in `input[1]`: the lone surrogate \\ud800"));
  EXPECT_THAT(Parse(std::string("{\"input\": \"a\0b\"}", 16)),
              HasSubstr("in `input`: the control character U+0000 stands in a string"));
  EXPECT_THAT(ErrorAt("/embed", R"({"texts": "a", "input_typ": "query"})"),
              HasSubstr("did you mean input_type?"));
}

TEST(JsonRequestTest, BoundsNesting) {
  const std::string deep = "{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(Parse(deep), HasSubstr("nests deeper than 16 levels"));
  EXPECT_THAT(Parse(R"({"x": [[[[1]]]], "input": "a"})"), "");
}

TEST(JsonRequestTest, ReadsPairsAndQueries) {
  const Parsed one = ParseAt("/similarity", R"({"query": "q", "documents": ["a", "b"]})");
  EXPECT_THAT(one.texts.texts, ElementsAre("q", "a", "b"));
  EXPECT_THAT(one.texts.kinds,
              ElementsAre(TextKind::kQuery, TextKind::kDocument, TextKind::kDocument));
  EXPECT_EQ(nlohmann::json::parse(AnswerOf(one))["scores"].size(), 2u);
  const Parsed pairs = ParseAt("/similarity", R"({"pairs": [["q", "a"], ["r", "a"], ["q", "b"]]})");
  EXPECT_THAT(pairs.texts.texts, ElementsAre("q", "r", "a", "b"));  // a text once
  EXPECT_THAT(pairs.texts.kinds, ElementsAre(TextKind::kQuery, TextKind::kQuery,
                                             TextKind::kDocument, TextKind::kDocument));
  // Cosines of [0, 1], [1, 1], [0, 1] with [2, 1], [2, 1], [3, 1].
  const auto scores = nlohmann::json::parse(AnswerOf(pairs))["scores"];
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_NEAR(scores[0].get<double>(), 1 / std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(scores[1].get<double>(), 3 / std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(scores[2].get<double>(), 1 / std::sqrt(10.0), 1e-6);
  for (std::string wrong : {R"({"query": "q"})", R"({"pairs": [["q"]]})", R"({"pairs": []})",
                            R"({"pairs": [["q", "d"]], "query": "q"})"}) {
    EXPECT_NE(ErrorAt("/similarity", wrong), "") << wrong;
  }
  EXPECT_THAT(ErrorAt("/similarity", R"({"pairs": [["a", "b"], ["c", "d"]]})", {.texts = 3}),
              HasSubstr("`pairs` has more than 1 pairs"));
  EXPECT_THAT(ErrorAt("/similarity", R"({"query": "a", "documents": ["b", "c"]})", {.texts = 2}),
              HasSubstr("`documents` has more than 1 texts"));
}

// Keeps what it was asked, and finds one document.
class KeptSearch final : public FakeBackend {
 public:
  KeptSearch() : FakeBackend(/*with_index=*/true) {}
  std::vector<std::vector<Found>> Search(const float*, size_t count, const SearchOptions& options,
                                         const EmbedTexts&) const override {
    asked = options;
    return std::vector<std::vector<Found>>(count, {found});
  }

  Found found{.id = "x"};
  mutable SearchOptions asked;
};

TEST(JsonRequestTest, ReadsSearches) {
  const KeptSearch backend;
  const Parsed one = ParseAt("/search", R"({"query": "q", "k": 3, "min_score": -0.5,
    "min_probability": 0.25, "filter": {"year": {">=": 2020}}, "texts": false})");
  EXPECT_THAT(one.texts.texts, ElementsAre("q"));
  EXPECT_THAT(one.texts.kinds, ElementsAre(TextKind::kQuery));
  EXPECT_TRUE(nlohmann::json::parse(AnswerOf(one, backend))["results"][0].is_object());
  EXPECT_EQ(backend.asked.k, 3u);
  EXPECT_EQ(backend.asked.min_score, -0.5);
  EXPECT_EQ(backend.asked.min_probability, 0.25);
  EXPECT_EQ(backend.asked.filter, R"({"year":{">=":2020}})");
  EXPECT_FALSE(backend.asked.highlight);  // without texts there is nothing to highlight
  const Parsed two = ParseAt("/search", R"({"queries": ["q", "r"]})");
  EXPECT_EQ(nlohmann::json::parse(AnswerOf(two, backend))["results"][1].size(), 1u);
  EXPECT_TRUE(backend.asked.highlight);
  EXPECT_FALSE(nlohmann::json::parse(AnswerOf(two, backend))["results"][0][0].contains("title"));
  KeptSearch titled;
  titled.found = {.id = "x", .text = "A title and more", .title = "A title"};
  EXPECT_EQ(nlohmann::json::parse(AnswerOf(two, titled))["results"][0][0]["title"], "A title");
  EXPECT_FALSE(backend.asked.by_document);
  KeptSearch passages;
  passages.found = {.id = "x", .passage = "x#3", .text = "t"};
  const auto of_documents = nlohmann::json::parse(
      AnswerOf(ParseAt("/search", R"({"query": "q", "by_document": true})"), passages));
  EXPECT_TRUE(passages.asked.by_document);
  EXPECT_FALSE(passages.asked.highlight);
  EXPECT_EQ(of_documents["results"][0]["passage"], "x#3");
  EXPECT_FALSE(nlohmann::json::parse(AnswerOf(one, titled))["results"][0].contains("passage"));
  EXPECT_THAT(SearchError(R"({"k": 1})"), HasSubstr("give `query`"));
  EXPECT_THAT(SearchError(R"({"query": "a", "queries": ["b"]})"), HasSubstr("give `query`"));
  EXPECT_THAT(SearchError(R"({"query": "a", "k": 0})"), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(SearchError(R"({"query": "a", "min_probability": 1.5})"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(SearchError(R"({"query": "a", "filter": "year>1"})"), HasSubstr("an object"));
}

TEST(JsonWriterTest, FloatsReadAsTheSame) {
  std::mt19937 random(7);
  std::vector<float> numbers = {0.0F,   -0.0F,         1.0F, 1e-38F,
                                1e-45F, 3.4028235e38F, 0.1F, 16777216.0F};
  while (numbers.size() < 2000) {
    const auto bits = static_cast<uint32_t>(random());
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    if (std::isfinite(number)) numbers.push_back(number);
  }
  std::string out;
  AppendJsonFloats(&out, numbers);
  const auto read = nlohmann::json::parse(out);
  ASSERT_EQ(read.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(static_cast<float>(read[i].get<double>()), numbers[i]) << i;
  }
  out.clear();
  AppendJsonFloats(&out, {});
  AppendJsonFloat(&out, std::numeric_limits<float>::infinity());
  EXPECT_EQ(out, "[]null");
}

// Python's base64 of struct.pack("<3f", ...) gives these.
TEST(JsonWriterTest, Base64IsThatOfTheBytes) {
  const std::vector<float> numbers = {1, -2.5F, 3.1415927F};
  const std::vector<std::string> expected = {"\"\"", "\"AACAPw==\"", "\"AACAPwAAIMA=\"",
                                             "\"AACAPwAAIMDbD0lA\""};
  for (size_t count = 0; count < expected.size(); ++count) {
    std::string out;
    AppendBase64Floats(&out, std::span(numbers).first(count));
    EXPECT_EQ(out, expected[count]);
  }
}

TEST(JsonWriterTest, TextsAreEscapedAndAlwaysUtf8) {
  std::string out;
  AppendJsonText(&out, std::string_view("a\"\\\n\x01\0ü\xFF<", 10));
  EXPECT_EQ(nlohmann::json::parse(out).get<std::string>(),
            std::string("a\"\\\n\x01\0ü\uFFFD<", 12));
}

TEST(AnswersTest, CutRowsKeepLengthOne) {
  const std::vector<float> unit = {0.6F, 0, 0.8F};
  EXPECT_THAT(CutRow(unit, 2), ElementsAre(1, 0));
  EXPECT_EQ(CutRow(unit, 0), unit);
  EXPECT_THAT(CutRow(std::vector<float>{3, 4, 5}, 2), ElementsAre(3, 4));
  EXPECT_THAT(CutRow(std::vector<float>{0, 0, 1}, 2), ElementsAre(0, 0));
}

TEST(AnswersTest, HighlightsCountCharacters) {
  const std::string text = "Ä b. Ünder it";
  KeptSearch backend;
  backend.found = {.id = "x", .score = 0.5F, .text = text, .highlight = FoundHighlight{6, 14}};
  const auto answer =
      nlohmann::json::parse(AnswerOf(ParseAt("/search", R"({"query": "q"})"), backend));
  const auto& highlight = answer["results"][0]["highlight"];
  EXPECT_EQ(highlight["text"], "Ünder i");
  EXPECT_EQ(highlight["start"], 5);
  EXPECT_EQ(highlight["end"], 12);
  EXPECT_TRUE(answer["results"][0]["probability"].is_null());
}

}  // namespace
}  // namespace tandem::serve
