#include "search/mining_by_embeddings/mine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "dist/ranks.h"
#include "search/mining_by_embeddings/agree_on_mining.h"
#include "search/mining_by_embeddings/gather_mined.h"
#include "search/mining_data.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

using tensor::Precision;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;

// Embeddings in clusters, as those of texts are: many documents score nearly the same.
tensor::Tensor ClusteredRows(int64_t rows, int64_t width, uint64_t seed) {
  constexpr int64_t kClusters = 40;
  RandomStream stream({.seed = seed, .purpose = "mine_test"});
  const auto bell = [&] { return static_cast<float>(stream.Uniform() + stream.Uniform() - 1); };
  RandomStream centre_stream({.seed = 99, .purpose = "mine_test"});
  std::vector<float> centres(static_cast<size_t>(kClusters * width));
  for (float& value : centres) value = static_cast<float>(centre_stream.Uniform()) - 0.5F;
  tensor::Tensor values = tensor::Empty({rows, width}, tensor::kFloat);
  for (int64_t r = 0; r < rows; ++r) {
    const float* centre = centres.data() + stream.Below(kClusters) * static_cast<size_t>(width);
    for (int64_t c = 0; c < width; ++c) {
      values.data_ptr<float>()[r * width + c] = centre[c] + 0.7F * bell();
    }
  }
  return values;
}

// Query q has document q as its positive and q + 1 judged 0 for every eighth.
class Mining : public testing::Test {
 protected:
  static constexpr int kQueries = 300, kDocuments = 3000;

  Mining() : set_(MakeSet()), task_(MakeMiningTask(set_)) { tensor::SetUpProcess(2); }

  static data::TrainingSet MakeSet() {
    data::Dataset dataset{.file = "qrels.tsv"};
    for (int d = 0; d < kDocuments; ++d) {
      dataset.documents.Add("d" + std::to_string(d), "text " + std::to_string(d));
    }
    for (uint32_t q = 0; q < kQueries; ++q) {
      dataset.queries.Add("q" + std::to_string(q), "question " + std::to_string(q));
      dataset.judged.push_back({.query = q, .judgements = {{.document = q, .grade = 1}}});
      if (q % 8 == 0) dataset.judged.back().judgements.push_back({.document = q + 1});
    }
    return data::BuildTrainingSet(std::move(dataset), 1);
  }

  Mined Mine(const MiningRules& rules, Precision precision = Precision::kFp32,
             size_t memory = size_t{1} << 30) const {
    return MineByEmbeddings(set_, task_, rules, SimilarityRows(queries_, "cosine"),
                            SimilarityRows(documents_, "cosine"),
                            {.precision = precision, .memory = memory});
  }

  // What the rules say, by sorting all scores.
  Mined Reference(const MiningRules& rules) const {
    const SimilarityRows queries(queries_, "cosine"), documents(documents_, "cosine");
    Mined mined = NothingMined(task_);
    std::vector<float> row(queries.width());
    for (uint32_t q = 0; q < kQueries; ++q) {
      queries.CopyTo(q, row.data());
      std::vector<Hit> hits;
      for (uint32_t d = 0; d < kDocuments; ++d)
        hits.push_back({d, documents.ScoreOf(row.data(), d)});
      std::sort(hits.begin(), hits.end(), HitOrder(set_.documents));
      mined.positive_scores[q] = documents.ScoreOf(row.data(), q);
      MineQuery(task_, rules, q, hits, &mined);
    }
    return mined;
  }

  data::TrainingSet set_;
  MiningTask task_;
  tensor::Tensor queries_ = ClusteredRows(kQueries, 64, 1);
  tensor::Tensor documents_ = ClusteredRows(kDocuments, 64, 2);
};

// The share of the expected negatives that were mined, and that scores are those of fp32.
double Agreement(const Mined& got, const Mined& want) {
  size_t same = 0, all = 0;
  for (size_t q = 0; q < want.queries.size(); ++q) {
    for (const Hit& hit : want.queries[q].negatives) {
      const auto& negatives = got.queries[q].negatives;
      const auto at = std::find_if(negatives.begin(), negatives.end(), [&](const Hit& other) {
        return other.document == hit.document;
      });
      ++all;
      if (at == negatives.end()) continue;
      ++same;
      EXPECT_NEAR(at->score, hit.score, 1e-5);
    }
    EXPECT_EQ(got.queries[q].negatives.size(), want.queries[q].negatives.size());
  }
  return static_cast<double>(same) / static_cast<double>(all);
}

std::vector<MiningRules> AllRules() {
  return {{},
          {.ranks = {0, 50}, .negatives = 7},
          {.random = true, .seed = 3},
          {.absolute_margin = 0.02},
          {.ranks = {3, 60}, .relative_margin = 0.05},
          {.relative_margin = 0.05, .random = true},
          {.ranks = {0, 3000}, .negatives = 20}};
}

TEST_F(Mining, FindsWhatTheRulesSay) {
  for (const MiningRules& rules : AllRules()) {
    const Mined want = Reference(rules), got = Mine(rules);
    EXPECT_GT(Agreement(got, want), 0.9995);
    const MiningSummary a = Summarize(rules, got), b = Summarize(rules, want);
    EXPECT_EQ(a.positives_in_range, b.positives_in_range);
    EXPECT_EQ(a.irrelevant_in_range, b.irrelevant_in_range);
    EXPECT_NEAR(a.positive_score, b.positive_score, 1e-5);
  }
}

TEST_F(Mining, MemoryDoesNotChangeWhatIsMined) {
  const MiningRules rules{.random = true};
  const Mined much = Mine(rules), little = Mine(rules, Precision::kFp32, 2 << 20);
  for (size_t q = 0; q < kQueries; ++q) {
    ASSERT_EQ(much.queries[q].negatives.size(), little.queries[q].negatives.size());
    for (size_t i = 0; i < much.queries[q].negatives.size(); ++i) {
      EXPECT_EQ(much.queries[q].negatives[i].document, little.queries[q].negatives[i].document);
    }
  }
}

// Mining doubts bf16 scores by 2^-8 at this width.
TEST_F(Mining, Bf16ScoresAreNearThoseOfFp32) {
  if (tensor::CurrentIsa() < tensor::Isa::kAvx512Bf16) GTEST_SKIP() << "no fast bf16 here";
  const SimilarityRows queries(queries_, "cosine"), documents(documents_, "cosine");
  const std::vector<uint32_t> depths(kQueries, kDocuments);
  const HitOrder order(set_.documents);
  std::vector<float> worst(kQueries);
  TiledSearch({queries, documents, depths, order}, {.precision = Precision::kBf16},
              [&](size_t query, std::span<const Hit> hits) {
                std::vector<float> row(queries.width());
                queries.CopyTo(query, row.data());
                for (const Hit& hit : hits) {
                  const float exact = documents.ScoreOf(row.data(), hit.document);
                  worst[query] = std::max(worst[query], std::fabs(hit.score - exact));
                }
              });
  EXPECT_LT(*std::max_element(worst.begin(), worst.end()), 0x1p-8F);
  EXPECT_GT(*std::max_element(worst.begin(), worst.end()), 0x1p-14F);  // it was bf16
}

TEST_F(Mining, Bf16MinesTheSame) {
  if (tensor::CurrentIsa() < tensor::Isa::kAvx512Bf16) GTEST_SKIP() << "no fast bf16 here";
  for (const MiningRules& rules : AllRules()) {
    EXPECT_GT(Agreement(Mine(rules, Precision::kBf16), Reference(rules)), 0.9995);
  }
}

// Processes (threads here) that divide the queries, once into more shares than queries.
class SharedMining : public Mining {
 protected:
  Mined MineTogether(const MiningRules& rules, Precision precision, dist::ProcessGroup& group) {
    Mined own = MineShare(set_, task_, rules, SimilarityRows(queries_, "cosine"),
                          SimilarityRows(documents_, "cosine"), {.precision = precision},
                          MiningShareOf(task_, &group));
    const auto mined = [](const MinedQuery& query) { return !query.negatives.empty(); };
    mined_alone_[static_cast<size_t>(group.rank())] =
        std::count_if(own.queries.begin(), own.queries.end(), mined);
    return GatherMined(task_, std::move(own), &group);
  }
  std::array<int64_t, 3> mined_alone_{};
};

void ExpectSame(const Mined& got, const Mined& want) {
  EXPECT_EQ(got.positive_scores, want.positive_scores);
  ASSERT_EQ(got.queries.size(), want.queries.size());
  for (size_t q = 0; q < want.queries.size(); ++q) {
    const MinedQuery &a = got.queries[q], &b = want.queries[q];
    EXPECT_EQ(a.left_out, b.left_out);
    EXPECT_EQ(a.positives_in_range, b.positives_in_range);
    EXPECT_EQ(a.irrelevant_in_range, b.irrelevant_in_range);
    ASSERT_EQ(a.negatives.size(), b.negatives.size()) << "query " << q;
    for (size_t i = 0; i < a.negatives.size(); ++i) {
      EXPECT_EQ(a.negatives[i].document, b.negatives[i].document);
      EXPECT_EQ(a.negatives[i].score, b.negatives[i].score);
    }
  }
}

TEST_F(SharedMining, EveryProcessHasWhatOneMinesToTheLastBit) {
  std::vector<Precision> precisions = {Precision::kFp32};
  if (tensor::CurrentIsa() >= tensor::Isa::kAvx512Bf16) precisions.push_back(Precision::kBf16);
  for (const Precision precision : precisions) {
    for (const MiningRules& rules : AllRules()) {
      const Mined want = Mine(rules, precision);
      const auto errors = dist::RunRanks(3, [&](dist::ProcessGroup& group) {
        ExpectSame(MineTogether(rules, precision, group), want);
      });
      EXPECT_THAT(errors, Each(IsEmpty()));
      EXPECT_THAT(mined_alone_, Each(Le(kQueries / 3)));
    }
  }
}

// What each of two processes throws where rank 1 has other rules, and maybe another task.
std::vector<std::string> ErrorsOfCheck(const data::TrainingSet& set, const MiningRules& rules,
                                       const MiningTask& other_task,
                                       const MiningRules& other_rules) {
  const MiningTask task = MakeMiningTask(set);
  return dist::RunRanks(2, [&](dist::ProcessGroup& group) {
    AgreeOnMining(set, group.leads() ? task : other_task, group.leads() ? rules : other_rules,
                  "fp32", &group);
  });
}

TEST_F(SharedMining, OtherRulesOrJudgementsOfARankAreErrors) {
  const MiningRules rules;
  EXPECT_THAT(ErrorsOfCheck(set_, rules, task_, rules), Each(IsEmpty()));
  const auto expect = [&](const MiningRules& other, const char* what) {
    EXPECT_THAT(ErrorsOfCheck(set_, rules, task_, other), Each(HasSubstr(what)));
  };
  expect({.ranks = {10, 100}}, "--range of rank 1 is 10:100, and that of rank 0 10:200");
  expect({.negatives = 4}, "--negatives of rank 1 is 4, and that of rank 0 5");
  expect({.absolute_margin = 0.1}, "--absolute-margin of rank 1 is 0.1, and that of rank 0 none");
  expect({.relative_margin = 0.1}, "--relative-margin of rank 1 is 0.1");
  expect({.random = true}, "--random of rank 1 is on");
  EXPECT_THAT(ErrorsOfCheck(set_, {.random = true}, task_, {.random = true, .seed = 2}),
              Each(HasSubstr("--seed of rank 1 is 2, and that of rank 0 0")));
  MiningTask judged = task_;
  judged.irrelevant = judged.positives;
  EXPECT_THAT(ErrorsOfCheck(set_, rules, judged, rules),
              Each(HasSubstr("judgements of rank 1 are not those of rank 0")));
}

TEST_F(SharedMining, ResultsOfAnotherTaskAreRefused) {
  MiningTask fewer = task_;
  fewer.positives = {};
  for (int q = 0; q < kQueries; ++q) fewer.positives.Add({});
  const auto errors = dist::RunRanks(2, [&](dist::ProcessGroup& group) {
    const MiningTask& task = group.leads() ? task_ : fewer;
    GatherMined(task, NothingMined(task), &group);
  });
  EXPECT_THAT(errors, Each(HasSubstr("different tasks")));
}

// More queries than are exchanged at a time.
TEST_F(SharedMining, ManyQueriesAreGatheredInParts) {
  MiningTask task;
  constexpr uint32_t kMany = 20'000;
  task.document_of.resize(kMany);
  task.query_of.resize(kMany);
  for (uint32_t q = 0; q < kMany; ++q) {
    for (NumberLists* lists : {&task.relevant, &task.positives, &task.irrelevant}) lists->Add({});
  }
  const auto mined = [&task](const dist::Share& share) {
    Mined all = NothingMined(task);
    for (auto q = static_cast<uint32_t>(share.begin); q < share.end; ++q) {
      all.queries[q] = {.negatives = {{q, 0.5F}}, .left_out = q + 1};
    }
    return all;
  };
  const auto errors = dist::RunRanks(3, [&](dist::ProcessGroup& group) {
    const Mined got = GatherMined(task, mined(MiningShareOf(task, &group)), &group);
    ExpectSame(got, mined({0, kMany}));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(GatherMined, TakesProcessesWithoutAQuery) {
  const data::TrainingSet set =
      TinySet({{"q1", "one"}, {"q2", "two"}}, {{"a", "A"}, {"b", "B"}, {"c", "C"}},
              {{"q1", "a", 2}, {"q2", "b", 2}});
  const MiningTask task = MakeMiningTask(set);
  const auto rows = [](std::initializer_list<float> values) {
    tensor::Tensor matrix =
        tensor::Empty({static_cast<int64_t>(values.size() / 2), 2}, tensor::kFloat);
    std::copy(values.begin(), values.end(), matrix.data_ptr<float>());
    return SimilarityRows(matrix, "cosine");
  };
  const SimilarityRows queries = rows({1, 0, 0, 1}), documents = rows({1, 1, 1, 0, 0, 1});
  const MiningRules rules{.ranks = {0, 2}, .negatives = 2};
  const Mined want = MineByEmbeddings(set, task, rules, queries, documents, {});
  ASSERT_EQ(want.queries[1].negatives.size(), 2U);
  const auto errors = dist::RunRanks(3, [&](dist::ProcessGroup& group) {
    Mined own = MineShare(set, task, rules, queries, documents, {}, MiningShareOf(task, &group));
    ExpectSame(GatherMined(task, std::move(own), &group), want);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(Mining, ARangeBehindTheLastDocumentIsAnError) {
  EXPECT_NO_THROW(Mine({.ranks = {2998, 5000}}));
  try {
    Mine({.ranks = {2999, 5000}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--range 2999:5000 begins beyond the corpus, which has "
                                        "3000 different texts"));
  }
}

}  // namespace
}  // namespace tandem::search
