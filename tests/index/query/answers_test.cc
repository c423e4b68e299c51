#include "index/query/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "index/fake_index.h"

namespace tandem::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kFiller = " " + std::string(200, 'f') + " " + std::string(100, 'g') + ".";

// [1, 0] where the text has the word eggs, [0, 1] where it has ham, else [0, 0]; three times as
// long where it has "loud".
std::vector<float> EmbedWords(std::span<const std::string_view> texts) {
  std::vector<float> rows;
  for (const std::string_view text : texts) {
    const auto has = [text](std::string_view word) {
      return text.find(word) != std::string_view::npos;
    };
    const float length = has("loud") ? 3.0F : 1.0F;
    rows.push_back(has("eggs") ? length : 0);
    rows.push_back(has("ham") ? length : 0);
  }
  return rows;
}

std::vector<std::vector<Answer>> Find(const DocumentIndex& index, std::vector<float> queries,
                                      const AnswerOptions& options,
                                      const weights::Calibration* calibration = nullptr,
                                      const EmbedDocuments& embed = EmbedWords) {
  return FindAnswers(index, queries.data(), queries.size() / 2, options, calibration, embed);
}

std::vector<std::string> Ids(const DocumentIndex& index, const std::vector<Answer>& answers) {
  std::vector<std::string> ids;
  for (const Answer& answer : answers) ids.emplace_back(index.id(answer.document));
  return ids;
}

FakeIndex Scores() {
  return FakeIndex({{"a", "", {0.25F, 0}}, {"b", "", {0.75F, 1}}, {"c", "", {0.5F, 2}}});
}

TEST(FindAnswers, PassesTheQueryOn) {
  const FakeIndex index = Scores();
  AnswerOptions options{.k = 2, .effort = 7, .threads = 3};
  const auto answers = Find(index, {1, 0, 0, 1}, options);
  EXPECT_THAT(Ids(index, answers[0]), ElementsAre("b", "c"));
  EXPECT_THAT(Ids(index, answers[1]), ElementsAre("c", "b"));
  EXPECT_FALSE(answers[0][0].probability || answers[0][0].highlight);
  EXPECT_EQ(index.last_query().effort, 7);
  EXPECT_EQ(index.last_query().threads, 3);
  EXPECT_EQ(index.last_query().filter, nullptr);
  options.filter.push_back({.field = "year", .comparison = Comparison::kLess, .value = 5.0});
  Find(index, {1, 0}, options);
  EXPECT_EQ(index.last_query().filter, &options.filter);
}

TEST(FindAnswers, CutsByScoreAndProbability) {
  const FakeIndex index = Scores();
  const weights::Calibration calibration{.scale = 4, .bias = -2, .similarity = "dot"};
  EXPECT_THAT(Ids(index, Find(index, {1, 0}, {.min_score = 0.5})[0]), ElementsAre("b", "c"));
  EXPECT_THAT(Ids(index, Find(index, {1, 0}, {.min_score = 0.51})[0]), ElementsAre("b"));
  EXPECT_THAT(Find(index, {1, 0}, {.min_score = 2})[0], IsEmpty());
  const auto answers = Find(index, {1, 0}, {.min_probability = 0.5}, &calibration)[0];
  EXPECT_THAT(Ids(index, answers), ElementsAre("b", "c"));
  EXPECT_DOUBLE_EQ(answers[0].probability.value(), 1 / (1 + std::exp(-1)));
  EXPECT_THROW(Find(index, {1, 0}, {.min_probability = 0.5}), UsageError);
}

TEST(FindAnswers, HighlightsTheNearestPassage) {
  const std::string text = "First the ham." + kFiller + " Then loud ham and eggs." + kFiller +
                           " Now the eggs." + kFiller;
  const auto highlighted = [&](const std::string& similarity) {
    const FakeIndex index({{"a", text, {1, 1}}}, similarity);
    const auto answers = Find(index, {1, 0, 0, 1}, {.highlight = true});
    std::vector<std::string> passages;
    for (const std::vector<Answer>& of_query : answers) {
      const Passage passage = of_query[0].highlight.value();
      passages.push_back(text.substr(passage.begin, 15));
    }
    return passages;
  };
  EXPECT_THAT(highlighted("cosine"), ElementsAre("Now the eggs. f", "First the ham. "));
  EXPECT_THAT(highlighted("dot"), ElementsAre("Then loud ham a", "Then loud ham a"));
}

TEST(FindAnswers, EncodesThePassagesOfAQueryAtOnce) {
  const std::string two = "The ham." + kFiller + " The eggs." + kFiller;
  const FakeIndex index({{"a", two, {1, 0}},
                         {"b", " short ", {2, 0}},
                         {"c", "", {3, 0}},
                         {"d", "The ham." + two, {4, 0}},
                         {"e", two, {0, 0}}});
  std::vector<size_t> calls;
  const auto embed = [&](std::span<const std::string_view> texts) {
    calls.push_back(texts.size());
    return EmbedWords(texts);
  };
  const auto answers = Find(index, {1, 0, -1, 0}, {.k = 4, .highlight = true}, nullptr, embed);
  EXPECT_THAT(calls, ElementsAre(4, 4));
  ASSERT_THAT(Ids(index, answers[0]), ElementsAre("d", "c", "b", "a"));
  EXPECT_EQ(two.substr(answers[0][3].highlight->begin, 9), "The eggs.");
  EXPECT_EQ(answers[0][2].highlight, (Passage{1, 6}));
  EXPECT_FALSE(answers[0][1].highlight);
  calls.clear();
  Find(index, {1, 0}, {.k = 2, .min_score = 1.5, .highlight = true}, nullptr, embed);
  EXPECT_THAT(calls, ElementsAre(2));
}

TEST(FindAnswers, LooksForPassagesInTheBeginningOfALongText) {
  std::string text = "\xe2\x82\xac";
  while (text.size() < 40'000) text += "€€€ ham. ";
  const FakeIndex index({{"a", text + "The eggs.", {1, 0}}});
  size_t bytes = 0;
  const auto embed = [&](std::span<const std::string_view> texts) {
    for (const std::string_view one : texts) bytes += one.size();
    return EmbedWords(texts);
  };
  const auto answers = Find(index, {1, 0}, {.highlight = true}, nullptr, embed);
  EXPECT_LE(bytes, 16384);
  EXPECT_GT(bytes, 16000);
  EXPECT_EQ(answers[0][0].highlight->begin, 0);
}

}  // namespace
}  // namespace tandem::index
