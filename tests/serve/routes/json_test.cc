// What comes in and goes out as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "serve/routes/answers.h"
#include "serve/routes/api_error.h"
#include "serve/routes/json_request.h"
#include "serve/routes/json_writer.h"
#include "text/base64.h"

namespace tandem::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(std::string body, EmbeddingRequest (*parse)(std::string*, const RequestLimits&),
                    const RequestLimits& limits = {}) {
  try {
    parse(&body, limits);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.code() + ": " + error.what();
  }
  return "";
}

std::string SearchError(std::string body) {
  try {
    ParseSearch(&body, {});
  } catch (const ApiError& error) {
    return error.what();
  }
  return "";
}

std::string Parse(std::string body) {
  return ErrorOf(std::move(body), ParseOpenAiEmbeddings, {.texts = 3});
}

TEST(JsonRequestTest, ReadsOpenAiEmbeddings) {
  std::string body = R"({"input": ["a", "ü\u0000b"], "model": "m", "encoding_format": "base64",
    "dimensions": 3, "user": "u", "input_type": "query", "something_new": {"x": [1]}})";
  const EmbeddingRequest request = ParseOpenAiEmbeddings(&body, {});
  EXPECT_THAT(request.texts, ElementsAre("a", std::string("ü\0b", 4)));
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.base64);
  EXPECT_EQ(request.dimensions, 3u);
  EXPECT_EQ(request.kind, TextKind::kQuery);
  body = R"({"input": "", "dimensions": null})";
  const EmbeddingRequest plain = ParseOpenAiEmbeddings(&body, {});
  EXPECT_THAT(plain.texts, ElementsAre(""));
  EXPECT_EQ(plain.kind, TextKind::kDocument);
  EXPECT_FALSE(plain.base64);
}

TEST(JsonRequestTest, NumbersThatNobodyReadsMayBeOfAnySize) {
  for (const char* number : {"123456789012345678901234567890", "-9223372036854775809", "1e999"}) {
    std::string body = fmt::format(R"({{"input": ["a", "b"], "seed": {}}})", number);
    EXPECT_THAT(ParseOpenAiEmbeddings(&body, {}).texts, ElementsAre("a", "b")) << number;
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
  EXPECT_THAT(ErrorOf(R"({"texts": "a", "input_typ": "query"})", ParseEmbed),
              HasSubstr("did you mean input_type?"));
}

TEST(JsonRequestTest, BoundsNesting) {
  const std::string deep = "{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(Parse(deep), HasSubstr("nests deeper than 16 levels"));
  EXPECT_THAT(Parse(R"({"x": [[[[1]]]], "input": "a"})"), "");
}

TEST(JsonRequestTest, ReadsPairsAndQueries) {
  std::string body = R"({"query": "q", "documents": ["a", "b"]})";
  const SimilarityRequest one = ParseSimilarity(&body, {});
  EXPECT_THAT(one.queries, ElementsAre("q"));
  EXPECT_THAT(one.pairs, ElementsAre(std::pair(0u, 0u), std::pair(0u, 1u)));
  body = R"({"pairs": [["q", "a"], ["r", "a"], ["q", "b"]]})";
  const SimilarityRequest pairs = ParseSimilarity(&body, {});
  EXPECT_THAT(pairs.queries, ElementsAre("q", "r"));
  EXPECT_THAT(pairs.documents, ElementsAre("a", "b"));
  EXPECT_THAT(pairs.pairs, ElementsAre(std::pair(0u, 0u), std::pair(1u, 0u), std::pair(0u, 1u)));
  for (std::string wrong : {R"({"query": "q"})", R"({"pairs": [["q"]]})", R"({"pairs": []})",
                            R"({"pairs": [["q", "d"]], "query": "q"})"}) {
    EXPECT_THROW(ParseSimilarity(&wrong, {}), ApiError) << wrong;
  }
}

TEST(JsonRequestTest, ReadsSearches) {
  std::string body = R"({"query": "q", "k": 3, "min_score": -0.5, "min_probability": 0.25,
    "filter": {"year": {">=": 2020}}, "texts": false})";
  const SearchRequest request = ParseSearch(&body, {});
  EXPECT_TRUE(request.single);
  EXPECT_EQ(request.options.k, 3u);
  EXPECT_EQ(request.options.min_score, -0.5);
  EXPECT_EQ(request.options.min_probability, 0.25);
  EXPECT_EQ(request.options.filter, R"({"year":{">=":2020}})");
  EXPECT_FALSE(request.options.highlight);  // without texts there is nothing to highlight
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

TEST(JsonWriterTest, Base64IsThatOfTheBytes) {
  for (size_t count = 0; count < 8; ++count) {
    std::vector<float> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(1 / (static_cast<float>(i) - 2.3F));
    std::string out;
    AppendBase64Floats(&out, numbers);
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), count * 4);
    EXPECT_EQ(out, '"' + text::EncodeBase64(bytes) + '"');
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
  const Found found{.id = "x", .score = 0.5F, .text = text, .highlight = FoundHighlight{6, 14}};
  const SearchRequest request{.queries = {"q"}, .single = true};
  const auto answer = nlohmann::json::parse(SearchAnswer(request, {{found}}, {}, 1.5, 10'000));
  const auto& highlight = answer["results"][0]["highlight"];
  EXPECT_EQ(highlight["text"], "Ünder i");
  EXPECT_EQ(highlight["start"], 5);
  EXPECT_EQ(highlight["end"], 12);
  EXPECT_TRUE(answer["results"][0]["probability"].is_null());
}

}  // namespace
}  // namespace tandem::serve
