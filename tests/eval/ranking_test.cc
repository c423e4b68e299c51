#include "eval/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"

namespace tandem::eval {
namespace {

// (id, score) in rank order.
using IdsWithScores = std::vector<std::pair<std::string, double>>;

IdsWithScores OrderedByComparing(const std::vector<data::ScoredDocument>& results, bool single) {
  IdsWithScores ranked;
  for (const data::ScoredDocument& result : results) {
    const double score =
        single ? static_cast<double>(static_cast<float>(result.score)) : result.score;
    ranked.emplace_back(result.document, score);
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second, a.first) > std::tie(b.second, b.first);
  });
  return ranked;
}

struct Scores {
  const char* name;
  std::function<double(RandomStream& random, size_t i)> score;
};

const Scores kScores[] = {
    {"uniform", [](RandomStream& random, size_t) { return random.Uniform(); }},
    {"of both signs", [](RandomStream& random, size_t) { return random.Uniform() - 0.5; }},
    {"many ties",
     [](RandomStream& random, size_t) { return std::floor(5 * random.Uniform()) - 2; }},
    {"zeros of both signs",
     [](RandomStream& random, size_t i) {
       return i % 3 == 0 ? 0.0 : i % 3 == 1 ? -0.0 : random.Uniform() - 0.5;
     }},
    {"all alike", [](RandomStream&, size_t) { return 0.25; }},
    {"one far from the others",
     [](RandomStream& random, size_t i) { return i == 7 ? -1e300 : 1 + 1e-12 * random.Uniform(); }},
    {"that single precision ties",
     [](RandomStream& random, size_t) { return 0.7 + 1e-8 * random.Uniform(); }},
    {"of all magnitudes",
     [](RandomStream& random, size_t) {
       return (random.Below(2) == 0 ? 1 : -1) * std::pow(10, 600 * random.Uniform() - 300);
     }},
    {"smaller than normal numbers",
     [](RandomStream& random, size_t) {
       return static_cast<double>(random.Below(2000)) * std::numeric_limits<double>::denorm_min();
     }},
    {"ascending", [](RandomStream&, size_t i) { return static_cast<double>(i); }},
    {"descending", [](RandomStream&, size_t i) { return -static_cast<double>(i / 2); }},
};

TEST(Ranking, IsTheOrderThatComparingGives) {
  RandomStream random({.seed = 1, .purpose = "ranking"});
  for (const Scores& scores : kScores) {
    for (const size_t count : {1, 2, 63, 64, 65, 300, 5000}) {
      std::vector<std::string> ids;
      for (size_t i = 0; i < count; ++i) ids.push_back("d" + std::to_string(i * 7919 % count));
      std::vector<data::ScoredDocument> results;
      for (size_t i = 0; i < count; ++i) results.push_back({ids[i], scores.score(random, i)});
      for (const bool single : {false, true}) {
        const auto precision = single ? ScorePrecision::kSingle : ScorePrecision::kDouble;
        IdsWithScores found;
        for (const RankedDocument& document :
             RankAndJudge(results, {}, {.score_precision = precision}).results) {
          found.emplace_back(document.document, document.score);
        }
        EXPECT_EQ(found, OrderedByComparing(results, single))
            << "scores " << scores.name << ", " << count << " results, single " << single;
      }
    }
  }
}

TEST(Ranking, KeepsTheBestAndFindsTheirGrades) {
  std::vector<std::string> ids;
  std::vector<data::ScoredDocument> results;
  std::vector<data::GradedDocument> judgements;
  for (size_t i = 0; i < 200; ++i) ids.push_back("d" + std::to_string(i));
  for (size_t i = 0; i < 200; ++i) {
    results.push_back({ids[i], static_cast<double>(i * 77 % 200)});
    if (i % 5 == 0) judgements.push_back({ids[i], static_cast<double>(i % 3) - 1, 0});
  }
  const JudgedRanking ranking = RankAndJudge(results, judgements, {.max_results = 10});
  ASSERT_EQ(ranking.results.size(), 10U);
  for (size_t rank = 0; rank < 10; ++rank) {
    const RankedDocument& document = ranking.results[rank];
    EXPECT_EQ(document.score, static_cast<double>(199 - rank));
    const size_t number = std::stoul(std::string(document.document.substr(1)));
    EXPECT_EQ(number * 77 % 200, 199 - rank);
    const bool judged = number % 5 == 0 && number % 3 != 0;
    EXPECT_EQ(document.grade, judged ? static_cast<double>(number % 3) - 1 : kNotJudged);
  }
}

}  // namespace
}  // namespace tandem::eval
