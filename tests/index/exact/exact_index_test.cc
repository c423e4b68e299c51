// Exact kinds of index against a loop over all rows: the same rows with the same scores, whatever
// the kind, the batch, the threads and the instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "index/vector_index.h"
#include "support/temporary_folder.h"
#include "tensor/kernels/cpu/rows/score_rows.h"
#include "tensor/machine/process.h"

namespace tandem::index {
namespace {

// All threads of the machine, and the instruction set that TANDEM_ISA asks for.
class Machine : public testing::Environment {
 public:
  void SetUp() override {
    try {
      tensor::SetUpProcess(0);
    } catch (const UsageError& error) {
      if (std::getenv("TANDEM_ISA_MAY_BE_MISSING") == nullptr) throw;
      std::puts(error.what());
      std::exit(77);  // ctest counts it as skipped
    }
  }
};
const testing::Environment* const kMachine = testing::AddGlobalTestEnvironment(new Machine);

struct Vectors {
  size_t width;
  std::vector<float> values;

  size_t count() const { return values.size() / width; }
  const float* row(size_t i) const { return values.data() + i * width; }
  VectorRows rows() const { return {values.data(), count(), width}; }
};

// What embeddings may look like, and what they hopefully do not.
enum class Look { kUnit, kLengths, kCopies, kZeros, kTiny, kHuge, kClose };
constexpr Look kLooks[] = {Look::kUnit, Look::kLengths, Look::kCopies, Look::kZeros,
                           Look::kTiny, Look::kHuge,    Look::kClose};

Vectors Make(Look look, size_t count, size_t width, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Vectors made{width, std::vector<float>(count * width)};
  for (size_t i = 0; i < count; ++i) {
    float* row = made.values.data() + i * width;
    for (size_t c = 0; c < width; ++c) row[c] = normal(random);
    float factor = 1 / std::sqrt(tensor::cpu::DotProduct(row, row, width));
    if (look == Look::kLengths) factor *= std::exp(2 * normal(random));
    if (look == Look::kTiny) factor *= i % 3 == 0 ? 1e-20F : 1e-37F;
    if (look == Look::kHuge) factor *= 1e18F;
    for (size_t c = 0; c < width; ++c) row[c] *= factor;
    const bool copy = look == Look::kCopies && i >= 5;
    if (copy) std::copy_n(made.row(i % 5), width, row);
    if (look == Look::kZeros && i % 2 == 1) std::fill_n(row, width, 0.0F);
    // Rows that differ by less than what codes can show.
    for (size_t c = 0; look == Look::kClose && c < width; ++c) {
      row[c] = made.values[c] + 1e-4F * row[c];
    }
  }
  return made;
}

std::vector<uint64_t> MaskOf(size_t rows, unsigned every, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint64_t> words((rows + 63) / 64);
  for (size_t i = 0; i < rows && every > 0; ++i) {
    if (random() % every == 0) words[i / 64] |= uint64_t{1} << (i % 64);
  }
  // What no row stands for may be anything.
  if (rows % 64 != 0) words.back() |= ~uint64_t{0} << (rows % 64);
  return words;
}

std::vector<RowHit> Reference(const Vectors& rows, const float* query, size_t k,
                              const RowMask* allowed) {
  std::vector<RowHit> hits;
  for (size_t i = 0; i < rows.count(); ++i) {
    if (allowed != nullptr && !(*allowed)[i]) continue;
    hits.push_back(
        {static_cast<uint32_t>(i), tensor::cpu::DotProduct(rows.row(i), query, rows.width)});
  }
  k = std::min(k, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(k), hits.end(),
                    [](const RowHit& a, const RowHit& b) {
                      return a.score != b.score ? a.score > b.score : a.row < b.row;
                    });
  hits.resize(k);
  return hits;
}

class ExactIndexTest : public testing::TestWithParam<const char*> {
 protected:
  const IndexKindMaker& Maker() const { return MakerOf(FindIndexKind(GetParam())); }
  std::unique_ptr<VectorIndex> Index(const Vectors& rows) const {
    Maker().build(rows.rows(), {}, folder_.path(), {.threads = 2});
    return Maker().open(rows.rows(), {}, folder_.path());
  }

  // Searches for the first `count` queries.
  void ExpectFinds(const VectorIndex& index, const Vectors& rows, const Vectors& queries,
                   const VectorQuery& options, const std::string& what) const {
    VectorQuery query = options;
    query.queries = queries.values.data();
    std::vector<std::vector<RowHit>> found(query.count, {{7, 7.0F}});
    index.Search(query, found);
    for (size_t q = 0; q < query.count; ++q) {
      const std::vector<RowHit> want = Reference(rows, queries.row(q), query.k, query.allowed);
      ASSERT_EQ(found[q].size(), want.size()) << what << ", query " << q;
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(found[q][i].row, want[i].row) << what << ", query " << q << ", hit " << i;
        ASSERT_EQ(found[q][i].score, want[i].score) << what << ", query " << q << ", hit " << i;
      }
    }
  }

  void ExpectFindsWithMasks(const VectorIndex& index, const Vectors& rows, const Vectors& queries,
                            const VectorQuery& options, const std::string& what) const {
    ExpectFinds(index, rows, queries, options, what);
    for (const unsigned every : {0U, 1U, 2U, 50U}) {
      const std::vector<uint64_t> words = MaskOf(rows.count(), every, 3);
      const RowMask mask{words};
      VectorQuery query = options;
      query.allowed = &mask;
      ExpectFinds(index, rows, queries, query, what + ", mask 1/" + std::to_string(every));
    }
  }

  TemporaryFolder folder_;
};

TEST_P(ExactIndexTest, FindsWhatALoopFinds) {
  for (const size_t width : {1, 3, 16, 384, 1000}) {
    const size_t most = width > 100 ? 700 : 3001;
    for (const size_t count : {size_t{0}, size_t{1}, size_t{65}, most}) {
      const Vectors rows = Make(Look::kUnit, count, width, 1);
      const Vectors queries = Make(Look::kUnit, 17, width, 2);
      const std::unique_ptr<VectorIndex> index = Index(rows);
      const std::string what = std::to_string(count) + " rows of " + std::to_string(width);
      for (const size_t k : {size_t{0}, size_t{1}, size_t{10}, count + 5}) {
        ExpectFindsWithMasks(*index, rows, queries, {.count = 1, .k = k}, what);
        ExpectFindsWithMasks(*index, rows, queries, {.count = 17, .k = k}, what + ", batch");
      }
    }
  }
}

TEST_P(ExactIndexTest, FindsInRowsOfEveryLook) {
  for (const Look look : kLooks) {
    const Vectors rows = Make(look, 700, 48, 4);
    const std::unique_ptr<VectorIndex> index = Index(rows);
    for (const Look of_query : kLooks) {
      const Vectors queries = Make(of_query, 9, 48, 5);
      const std::string what = "look " + std::to_string(static_cast<int>(look)) + " by " +
                               std::to_string(static_cast<int>(of_query));
      ExpectFindsWithMasks(*index, rows, queries, {.count = 1, .k = 10}, what);
      ExpectFindsWithMasks(*index, rows, queries, {.count = 9, .k = 10}, what + ", batch");
    }
  }
}

TEST_P(ExactIndexTest, ThreadsAndBatchesChangeNothing) {
  const Vectors rows = Make(Look::kLengths, 12000, 40, 6);
  const Vectors queries = Make(Look::kUnit, 300, 40, 7);
  const std::unique_ptr<VectorIndex> index = Index(rows);
  for (const int threads : {1, 3}) {
    for (const size_t count : {2, 17, 300}) {
      ExpectFinds(*index, rows, queries, {.count = count, .k = 30, .threads = threads},
                  std::to_string(count) + " queries on " + std::to_string(threads) + " threads");
    }
  }
}

TEST_P(ExactIndexTest, RowsThatAreNotFiniteAreRefused) {
  Vectors rows = Make(Look::kUnit, 50, 8, 8);
  rows.values[30 * 8 + 2] = std::nanf("");
  EXPECT_THROW(Index(rows), NumericError);
  rows.values[30 * 8 + 2] = -INFINITY;
  EXPECT_THROW(Index(rows), NumericError);
}

TEST_P(ExactIndexTest, QueriesWithoutFiniteScoresAreRefused) {
  const Vectors rows = Make(Look::kHuge, 50, 8, 9);
  const std::unique_ptr<VectorIndex> index = Index(rows);
  for (const float value : {std::nanf(""), INFINITY, 1e30F}) {
    Vectors queries = Make(Look::kUnit, 2, 8, 10);
    queries.values[12] = value;
    std::vector<std::vector<RowHit>> found(2);
    EXPECT_THROW(index->Search({.queries = queries.values.data(), .count = 2}, found),
                 NumericError);
  }
}

TEST_P(ExactIndexTest, FilesOfOtherRowsAreRefused) {
  const Vectors rows = Make(Look::kUnit, 50, 8, 11), fewer = Make(Look::kUnit, 49, 8, 11);
  const std::vector<std::string> files =
      Maker().build(rows.rows(), {}, folder_.path(), {.threads = 1});
  EXPECT_THROW(Maker().open(fewer.rows(), {}, folder_.path()), DataError);
  ASSERT_EQ(files.size(), 1U);
  const std::filesystem::path file = folder_.path() / files[0];
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THROW(Maker().open(rows.rows(), {}, folder_.path()), DataError);
  std::filesystem::resize_file(file, 0);
  EXPECT_THROW(Maker().open(rows.rows(), {}, folder_.path()), DataError);
}

TEST_P(ExactIndexTest, BuildingStopsAndTellsHowFarItIs) {
  const Vectors rows = Make(Look::kUnit, 20000, 8, 12);
  std::vector<double> shares;
  Maker().build(rows.rows(), {}, folder_.path(),
                {.threads = 2, .progress = [&](double share) { shares.push_back(share); }});
  EXPECT_GT(shares.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.back(), 1);
  EXPECT_THROW(Maker().build(rows.rows(), {}, folder_.path(), {.stop = [] { return 15; }}),
               Interrupted);
}

TEST_P(ExactIndexTest, MemoryIsWhatTheCostSays) {
  const Vectors rows = Make(Look::kUnit, 1000, 384, 13);
  const KindCost cost = FindIndexKind(GetParam()).cost(1000, 384, {});
  const std::unique_ptr<VectorIndex> index = Index(rows);
  EXPECT_EQ(static_cast<double>(index->resident_bytes()), cost.resident_bytes);
}

TEST(ExactMemory, CodesTakeAQuarter) {
  const auto resident = [](std::string_view kind) {
    return FindIndexKind(kind).cost(1'000'000, 384, {}).resident_bytes;
  };
  EXPECT_EQ(resident("fp32"), 1e6 * 384 * 4);
  EXPECT_LT(resident("int8") / resident("fp32"), 0.253);
  EXPECT_EQ(resident("bf16") / resident("fp32"), 0.5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExactIndexTest, testing::Values("fp32", "bf16", "int8"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace tandem::index
