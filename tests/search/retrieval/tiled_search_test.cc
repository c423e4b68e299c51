#include "search/retrieval/tiled_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "search/retrieval/integer_rows.h"
#include "search/retrieval/search_plan.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

using tensor::Precision;
using testing::HasSubstr;

std::vector<std::vector<Hit>> Search(const TiledSearchInput& input,
                                     const TiledSearchOptions& options) {
  std::vector<std::vector<Hit>> found(input.queries.size());
  TiledSearch(input, options, [&](size_t query, std::span<const Hit> hits) {
    EXPECT_TRUE(found[query].empty());
    found[query].assign(hits.begin(), hits.end());
  });
  return found;
}

void ExpectBest(const TiledSearchInput& input, const std::vector<std::vector<Hit>>& found) {
  std::vector<float> row(input.queries.width());
  for (size_t q = 0; q < found.size(); ++q) {
    input.queries.CopyTo(q, row.data());
    std::vector<Hit> want;
    for (uint32_t d = 0; d < input.documents.size(); ++d) {
      want.push_back({d, input.documents.ScoreOf(row.data(), d)});
    }
    std::sort(want.begin(), want.end(), input.order);
    ASSERT_EQ(found[q].size(), std::min<size_t>(input.depths[q], want.size()));
    for (size_t i = 0; i < found[q].size(); ++i) {
      ASSERT_EQ(found[q][i].document, want[i].document) << "query " << q << " rank " << i;
      ASSERT_EQ(found[q][i].score, want[i].score);
    }
  }
}

class TiledSearchTest : public testing::Test {
 protected:
  TiledSearchTest() { tensor::SetUpProcess(2); }
};

// Sizes around the tiles', widths that no kernel likes, and memory for one tile or for everything.
TEST_F(TiledSearchTest, FindsWhatSortingAllScoresFinds) {
  for (const int64_t width : {1, 7, 32, 48}) {
    for (const int64_t count : {2, 31, 961, 2500}) {
      const data::Texts texts = NamedTexts(static_cast<size_t>(count));
      const tensor::Tensor all = IntegerRows(count, width, 1), asked = IntegerRows(131, width, 2);
      const SimilarityRows documents(all, "dot"), queries(asked, "dot");
      std::vector<uint32_t> depths(queries.size());
      for (size_t q = 0; q < depths.size(); ++q) depths[q] = static_cast<uint32_t>(q % 3 * 40);
      const HitOrder order(texts);
      const TiledSearchInput input{queries, documents, depths, order};
      for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
        if (precision == Precision::kBf16 && tensor::CurrentIsa() < tensor::Isa::kAvx512Bf16) {
          continue;
        }
        const size_t least = LeastSearchMemory(input, precision);
        for (const size_t memory : {least, size_t{1} << 30}) {
          ExpectBest(input, Search(input, {.precision = precision, .memory = memory}));
        }
      }
    }
  }
}

TEST_F(TiledSearchTest, ChosenRowsAreScaledToCosines) {
  const data::Texts texts = NamedTexts(4);
  tensor::Tensor rows = tensor::Empty({4, 2}, tensor::kFloat);
  const float values[] = {3, 4, 0, 0, 10, 0, 0, -2};
  std::copy(std::begin(values), std::end(values), rows.data_ptr<float>());
  const SimilarityRows documents(rows, "cosine", {2, 0, 1}), queries(rows, "cosine", {0});
  const std::vector<uint32_t> depths = {3};
  const HitOrder order(texts);
  const auto found = Search({queries, documents, depths, order}, {});
  ASSERT_EQ(found[0].size(), 3U);
  EXPECT_EQ(found[0][0].document, 1U);
  EXPECT_FLOAT_EQ(found[0][0].score, 1);
  EXPECT_EQ(found[0][1].document, 0U);
  EXPECT_FLOAT_EQ(found[0][1].score, 0.6F);
  EXPECT_EQ(found[0][2].score, 0);  // of zeros
}

TEST_F(TiledSearchTest, QueriesOfAShareHaveTheHitsThatTheyHaveAmongAll) {
  const data::Texts texts = NamedTexts(1200);
  const tensor::Tensor all = IntegerRows(1200, 24, 1), asked = IntegerRows(150, 24, 2);
  const SimilarityRows documents(all, "dot"), queries(asked, "dot");
  const HitOrder order(texts);
  const std::vector<uint32_t> depths(queries.size(), 5);
  const auto of_all = Search({queries, documents, depths, order}, {});
  std::vector<size_t> done;
  std::vector<std::vector<Hit>> found(queries.size());
  TiledSearch({queries, documents, std::span(depths).first(70), order, 80},
              {.progress = [&](size_t count) { done.push_back(count); }},
              [&](size_t query, std::span<const Hit> hits) {
                found[query].assign(hits.begin(), hits.end());
              });
  EXPECT_EQ(done.back(), 70U);
  for (size_t q = 0; q < queries.size(); ++q) {
    ASSERT_EQ(found[q].size(), q < 80 ? 0U : 5U) << "query " << q;
    for (size_t i = 0; i < found[q].size(); ++i) {
      EXPECT_EQ(found[q][i].document, of_all[q][i].document) << "query " << q;
      EXPECT_EQ(found[q][i].score, of_all[q][i].score);
    }
  }
}

TEST_F(TiledSearchTest, PlansKeepToTheirMemory) {
  const data::Texts texts = NamedTexts(20000);
  const tensor::Tensor all = IntegerRows(20000, 32, 1), asked = IntegerRows(3000, 32, 2);
  const SimilarityRows documents(all, "dot"), queries(asked, "dot");
  const std::vector<uint32_t> depths(3000, 200);
  const HitOrder order(texts);
  const TiledSearchInput input{queries, documents, depths, order};
  const size_t least = LeastSearchMemory(input, Precision::kFp32);
  for (const size_t memory : {least, 2 * least, 5 * least, 20 * least, size_t{1} << 30}) {
    const SearchPlan plan = PlanSearch(input, Precision::kFp32, memory);
    EXPECT_LE(plan.bytes, memory);
    EXPECT_GE(plan.block_tiles, 1U);
    EXPECT_EQ(plan.groups.front(), 0U);
    EXPECT_EQ(plan.groups.back(), 3000U);
    // Every group but the last has a tile of queries for each thread.
    for (size_t i = 0; i + 2 < plan.groups.size(); ++i) {
      EXPECT_GE(plan.groups[i + 1] - plan.groups[i], 2 * kQueryTile);
    }
  }
  EXPECT_FALSE(PlanSearch(input, Precision::kFp32, least).keep_documents);
  EXPECT_TRUE(PlanSearch(input, Precision::kFp32, size_t{1} << 30).keep_documents);
  EXPECT_GT(PlanSearch(input, Precision::kFp32, least).groups.size(), 5U);
  EXPECT_EQ(PlanSearch(input, Precision::kFp32, size_t{1} << 30).groups.size(), 2U);
}

TEST_F(TiledSearchTest, MemoryBelowOneTileIsAnError) {
  const data::Texts texts = NamedTexts(10);
  const tensor::Tensor rows = IntegerRows(10, 32, 1);
  const SimilarityRows all(rows, "dot");
  const std::vector<uint32_t> depths(10, 3);
  const HitOrder order(texts);
  const TiledSearchInput input{all, all, depths, order};
  try {
    Search(input, {.memory = LeastSearchMemory(input, Precision::kFp32) - 1});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is below one tile: 960 documents and, on each of 2 "
                                        "threads, 64 queries take"));
  }
}

TEST_F(TiledSearchTest, StopsWhereItIsAsked) {
  const data::Texts texts = NamedTexts(10000);
  const tensor::Tensor rows = IntegerRows(10000, 8, 1);
  const SimilarityRows all(rows, "dot");
  const std::vector<uint32_t> depths(10000, 3);
  const HitOrder order(texts);
  size_t told = 0;
  const TiledSearchOptions options{.progress = [&](size_t queries) { told = queries; },
                                   .stop = [&] { return told > 0 ? SIGINT : 0; }};
  EXPECT_THROW(Search({all, all, depths, order}, options), Interrupted);
  EXPECT_GT(told, 0U);
  EXPECT_LT(told, 10000U);
}

TEST_F(TiledSearchTest, EmbeddingsThatAreNotFiniteAreAnError) {
  tensor::Tensor rows = IntegerRows(3, 8, 7);
  rows.data_ptr<float>()[9] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(SimilarityRows(rows, "cosine"), NumericError);
  EXPECT_NO_THROW(SimilarityRows(rows, "cosine", {0, 2}));
}

TEST_F(TiledSearchTest, RowsOfSeveralBlocksAreThoseOfOne) {
  const tensor::Tensor rows = IntegerRows(7, 5, 3);
  const float* values = rows.data_ptr<float>();
  const std::vector<RowBlock> blocks = {{.values = values, .rows = 0, .owner = {}},
                                        {.values = values, .rows = 3, .owner = {}},
                                        {.values = values + 15, .rows = 0, .owner = {}},
                                        {.values = values + 15, .rows = 4, .owner = {}},
                                        {.values = nullptr, .rows = 0, .owner = {}}};
  for (const std::vector<uint32_t>& chosen : {std::vector<uint32_t>(), {6, 0, 3, 2}}) {
    const SimilarityRows one(rows, "cosine", chosen), several(blocks, 5, "cosine", chosen);
    ASSERT_EQ(several.size(), one.size());
    EXPECT_EQ(several.longest(), one.longest());
    std::vector<float> a(5), b(5);
    for (size_t row = 0; row < one.size(); ++row) {
      one.CopyTo(row, a.data());
      several.CopyTo(row, b.data());
      EXPECT_EQ(a, b) << row;
      EXPECT_EQ(several.ScoreOf(a.data(), row), one.ScoreOf(a.data(), row));
    }
  }
}

}  // namespace
}  // namespace tandem::search
