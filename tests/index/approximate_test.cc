// What every approximate kind promises, over each of them.
#include "index/approximate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "config/catalogue.h"
#include "index/graph/best_rows.h"
#include "index/kind_file.h"
#include "index/vector_worlds.h"
#include "support/temporary_folder.h"

namespace tandem::index {
namespace {

struct Kind {
  const char* name;
  decltype(&BuildHnsw) build;
  decltype(&OpenHnsw) open;
  std::vector<std::pair<const char*, config::Value>> set = {};
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ApproximateTest : public testing::TestWithParam<Kind> {
 protected:
  config::Params Parameters() const {
    config::Params params(Info().params);
    for (const auto& [name, value] : GetParam().set) EXPECT_EQ(params.Set(name, value), "");
    return params;
  }
  const IndexKindInfo& Info() const { return FindIndexKind(GetParam().name); }
  std::unique_ptr<VectorIndex> Build(const World& world, int threads = 1) {
    files_ = GetParam().build(world.rows(), Parameters(), folder_.path(), {.threads = threads});
    return GetParam().open(world.rows(), Parameters(), folder_.path());
  }
  std::filesystem::path File() const { return folder_.path() / files_.front(); }

  TemporaryFolder folder_;
  std::vector<std::string> files_;
};

std::vector<std::vector<RowHit>> Find(const VectorIndex& index, VectorQuery query) {
  std::vector<std::vector<RowHit>> found(query.count);
  index.Search(query, found);
  return found;
}

VectorQuery Ask(const World& questions, size_t k) {
  return {.queries = questions.values.data(), .count = questions.rows().count, .k = k};
}

// Share of the best allowed rows that were found; checks scores and order.
double Recall(const World& world, const World& questions, const VectorQuery& query,
              const std::vector<std::vector<RowHit>>& found) {
  size_t hits = 0, wanted = 0;
  for (size_t q = 0; q < query.count; ++q) {
    const float* values = questions.values.data() + q * world.width;
    const std::vector<RowHit> best = ScanAllowed(world.rows(), values, query.allowed, query.k);
    EXPECT_EQ(found[q].size(), best.size());
    EXPECT_TRUE(std::is_sorted(found[q].begin(), found[q].end(), Better));
    wanted += best.size();
    for (const RowHit& hit : found[q]) {
      double product = 0;
      for (size_t i = 0; i < world.width; ++i) {
        product += double{values[i]} * world.values[hit.row * world.width + i];
      }
      EXPECT_NEAR(hit.score, product, 1e-5);
      EXPECT_TRUE(!query.allowed || (*query.allowed)[hit.row]);
      hits += hit.score >= best.back().score;
    }
  }
  return wanted == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(wanted);
}

TEST_P(ApproximateTest, FindsTheWishedShareWithItsOwnEffort) {
  const World world = ClusteredWorld(5000, 48, 100, 1);
  const auto index = Build(world);
  const World questions = ClusteredWorld(100, 48, 100, 1, 1);
  const VectorQuery query = Ask(questions, 10);
  EXPECT_GE(Recall(world, questions, query, Find(*index, query)), 0.92);
  const std::optional<MeasuredRecall> measured = index->measured();
  ASSERT_TRUE(measured);
  EXPECT_GE(measured->recall, 0.95);
  EXPECT_EQ(measured->wanted, 0.95);
  EXPECT_EQ(measured->queries, 200);
  EXPECT_GE(measured->effort, 1);
  const std::optional<MeasuredRecall> read = ReadMeasured(File());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->recall, measured->recall);
}

TEST_P(ApproximateTest, MoreEffortFindsMore) {
  const World world = ClusteredWorld(5000, 48, 100, 1);
  const auto index = Build(world);
  const World questions = ClusteredWorld(100, 48, 100, 1, 1);
  VectorQuery query = Ask(questions, 10);
  query.effort = 1;
  const double least = Recall(world, questions, query, Find(*index, query));
  query.effort = 5000;
  const double most = Recall(world, questions, query, Find(*index, query));
  EXPECT_LT(least, most);
  EXPECT_GE(most, 0.98);
}

TEST_P(ApproximateTest, FindsOnlyAllowedRowsAndAsManyAsThereAre) {
  const World world = ClusteredWorld(5000, 48, 100, 1);
  const auto index = Build(world);
  const World questions = ClusteredWorld(50, 48, 100, 1, 1);
  for (double share : {0.9, 0.5, 0.1, 0.01, 0.001, 0.0}) {
    const std::vector<uint64_t> words = RandomMask(5000, share, 3);
    const RowMask mask{words};
    VectorQuery query = Ask(questions, 20);
    query.allowed = &mask;
    EXPECT_GE(Recall(world, questions, query, Find(*index, query)), 0.9) << share;
  }
}

TEST_P(ApproximateTest, AnswersWithWhatThereIsOfFewRows) {
  for (size_t count : {0, 1, 2, 5, 40, 300}) {
    const World world = ClusteredWorld(count, 16, 3, 5);
    const auto index = Build(world);
    const World questions = ClusteredWorld(4, 16, 3, 5, 1);
    for (size_t k : {0, 1, 10, 1000}) {
      const auto found = Find(*index, Ask(questions, k));
      for (const auto& hits : found) EXPECT_EQ(hits.size(), std::min(k, count));
    }
  }
}

TEST_P(ApproximateTest, TakesRowsThatAreEqualOrZero) {
  World world = ClusteredWorld(40, 24, 40, 7);
  const std::vector<float> once = world.values;
  for (int copy = 0; copy < 20; ++copy) {
    world.values.insert(world.values.end(), once.begin(), once.end());
  }
  world.values.insert(world.values.end(), 24 * 60, 0.0F);
  const auto index = Build(world);
  const World questions = ClusteredWorld(40, 24, 40, 7);
  VectorQuery query = Ask(questions, 10);
  const auto found = Find(*index, query);
  for (size_t q = 0; q < 40; ++q) {
    // Equal scores by row: copies of row q are 40 rows apart.
    ASSERT_EQ(found[q].size(), 10);
    EXPECT_NEAR(found[q].front().score, 1, 1e-5);
    EXPECT_NEAR(found[q].back().score, 1, 1e-5);
    EXPECT_TRUE(std::is_sorted(found[q].begin(), found[q].end(), Better));
  }
  const std::vector<float> zero(24, 0.0F);
  EXPECT_EQ(Find(*index, {.queries = zero.data(), .count = 1, .k = 5})[0].size(), 5);
}

TEST_P(ApproximateTest, IsTheSameWhenItIsBuiltAgainByOneThread) {
  const World world = ClusteredWorld(1500, 32, 30, 2);
  Build(world);
  const std::string first = ReadFile(File());
  Build(world);
  EXPECT_TRUE(first == ReadFile(File()));
  // It leaves nothing beside its file.
  const std::filesystem::directory_iterator files(folder_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_P(ApproximateTest, AnswersSeveralThreadsAtOnceAndManyQueriesOnSeveral) {
  const World world = ClusteredWorld(3000, 32, 50, 2);
  const auto index = Build(world, 2);
  const World questions = ClusteredWorld(64, 32, 50, 2, 1);
  VectorQuery query = Ask(questions, 10);
  const auto expected = Find(*index, query);
  query.threads = 3;
  std::vector<std::vector<std::vector<RowHit>>> found(3);
  std::vector<std::thread> threads;
  for (auto& own : found) threads.emplace_back([&] { own = Find(*index, query); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : found) {
    for (size_t q = 0; q < query.count; ++q) {
      ASSERT_EQ(own[q].size(), expected[q].size());
      for (size_t i = 0; i < own[q].size(); ++i) {
        EXPECT_EQ(own[q][i].row, expected[q][i].row);
        EXPECT_EQ(own[q][i].score, expected[q][i].score);
      }
    }
  }
}

TEST_P(ApproximateTest, CostIsWhatTheFileAndTheMemoryAre) {
  const World world = ClusteredWorld(3000, 48, 50, 2);
  const auto index = Build(world);
  const KindCost cost = Info().cost(3000, 48, Parameters());
  const double file = static_cast<double>(std::filesystem::file_size(File()));
  EXPECT_NEAR(cost.disk_bytes / file, 1, 0.05);
  EXPECT_NEAR(cost.resident_bytes / static_cast<double>(index->resident_bytes()), 1, 0.05);
}

// Wherever it is stopped, there is no half file and nothing that was only for building.
TEST_P(ApproximateTest, StopsWhereverItIsAsked) {
  const World world = ClusteredWorld(500, 16, 3, 5);
  const std::string name = Build(world) ? files_.front() : "";
  std::filesystem::remove(File());
  int calls = 0;
  for (bool stopped = true; stopped; ++calls) {
    int left = calls;
    try {
      GetParam().build(world.rows(), Parameters(), folder_.path(),
                       {.stop = [&left] { return left-- == 0 ? 15 : 0; }});
      stopped = false;
    } catch (const Interrupted& interrupted) {
      EXPECT_EQ(static_cast<int>(interrupted.exit_code()), 143);
    }
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      EXPECT_EQ(file.path().filename(), name);
    }
  }
  EXPECT_GT(calls, 3);
}

TEST_P(ApproximateTest, ProgressGoesForwardToItsEnd) {
  const World world = ClusteredWorld(500, 16, 3, 5);
  std::vector<double> shares;
  GetParam().build(world.rows(), Parameters(), folder_.path(),
                   {.progress = [&](double share) { shares.push_back(share); }});
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

TEST_P(ApproximateTest, RefusesFilesThatAreCutOrOfOtherRows) {
  const World world = ClusteredWorld(300, 16, 3, 5);
  Build(world);
  const World other = ClusteredWorld(301, 16, 3, 5);
  EXPECT_THROW(GetParam().open(other.rows(), Parameters(), folder_.path()), DataError);
  const std::string whole = ReadFile(File());
  for (size_t size : {size_t{0}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    WriteFileAtomically(File(), std::string_view(whole).substr(0, size));
    EXPECT_THROW(GetParam().open(world.rows(), Parameters(), folder_.path()), DataError) << size;
  }
}

// Checksums find damage before anything is opened. Without them a search may answer wrongly, but
// reads nothing that is not there.
TEST_P(ApproximateTest, SearchesOfDamagedFilesStayInTheirRows) {
  const World world = ClusteredWorld(300, 16, 3, 5);
  Build(world);
  const std::string whole = ReadFile(File());
  RandomStream random({.seed = 1, .purpose = "damage"});
  size_t refused = 0, searched = 0;
  for (int i = 0; i < 100; ++i) {
    std::string damaged = whole;
    const size_t at = random.Below(i % 2 ? sizeof(KindHeader) : whole.size());
    for (size_t j = at; j < std::min(at + 8, whole.size()); ++j) {
      damaged[j] = static_cast<char>(random.Below(256));
    }
    WriteFileAtomically(File(), damaged);
    try {
      const auto index = GetParam().open(world.rows(), Parameters(), folder_.path());
      const auto found = Find(*index, Ask(world, 5));
      for (const auto& hits : found) {
        for (const RowHit& hit : hits) EXPECT_LT(hit.row, 300);
      }
      ++searched;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(searched, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ApproximateTest,
    testing::Values(Kind{"hnsw", BuildHnsw, OpenHnsw}, Kind{"ivf_flat", BuildIvfFlat, OpenIvfFlat},
                    Kind{"ivf_flat", BuildIvfFlat, OpenIvfFlat, {{"codes", std::string("fp32")}}},
                    Kind{"ivf_pq", BuildIvfPq, OpenIvfPq}),
    [](const testing::TestParamInfo<Kind>& of) {
      return std::string(of.param.name) + (of.param.set.empty() ? "" : "_fp32");
    });

TEST(IvfPqTest, NamesACodeLengthThatDividesTheWidth) {
  const World world = ClusteredWorld(300, 16, 3, 5);
  const TemporaryFolder folder;
  config::Params params(FindIndexKind("ivf_pq").params);
  ASSERT_EQ(params.Set("code_bytes", int64_t{5}), "");
  try {
    BuildIvfPq(world.rows(), params, folder.path(), {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "code_bytes must divide the width of the embeddings, 16; found 5, try 4");
  }
}

}  // namespace
}  // namespace tandem::index
