// FAISS and tensors in one process: both have OpenMP's threads, and neither may take the other's
// or change what it computes.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "data/texts/texts.h"
#include "index/approximate.h"
#include "index/word_index.h"
#include "search/retrieval/exact.h"
#include "support/temporary_folder.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::index {
namespace {

constexpr size_t kTexts = 700;
constexpr size_t kQueries = 20;
constexpr int kThreads = 4;

class SharedThreadsTest : public testing::Test {
 protected:
  SharedThreadsTest() {
    tensor::SetUpProcess(1);
    model_ = WordModel(folder_.path() / "model");
    for (size_t i = 0; i < kTexts; ++i) texts_.Add(std::to_string(i), WordText(i));
  }

  // Rows of length 1, [kTexts, E].
  std::vector<float> Embed() const {
    const tensor::Tensor rows = search::RowsFor(
        search::EncodeAll(*model_, model::TextKind::kDocument, texts_, {}), "cosine");
    return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
  }

  // The best rows of the first rows as questions, with all effort, in an index of `rows` that is
  // built for it.
  std::vector<std::vector<RowHit>> BuildAndFind(const std::string& kind,
                                                const std::vector<float>& rows, int threads) const {
    const TemporaryFolder folder;
    const VectorRows all{rows.data(), kTexts, rows.size() / kTexts};
    const config::Params params(FindIndexKind(kind).params);
    const bool graph = kind == "hnsw";
    (graph ? BuildHnsw : BuildIvfFlat)(all, params, folder.path(), {.threads = threads});
    const auto index = (graph ? OpenHnsw : OpenIvfFlat)(all, params, folder.path());
    std::vector<std::vector<RowHit>> found(kQueries);
    index->Search(
        {.queries = rows.data(), .count = kQueries, .k = 5, .threads = threads, .effort = kTexts},
        found);
    return found;
  }

  static void ExpectRows(const std::vector<float>& found, const std::vector<float>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << i;
  }

  // Scores, since equal texts may change places.
  static void ExpectHits(const std::vector<std::vector<RowHit>>& found,
                         const std::vector<std::vector<RowHit>>& expected) {
    for (size_t q = 0; q < kQueries; ++q) {
      ASSERT_EQ(found[q].size(), expected[q].size());
      for (size_t i = 0; i < found[q].size(); ++i) {
        ASSERT_NEAR(found[q][i].score, expected[q][i].score, 1e-5) << q << " " << i;
      }
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  data::Texts texts_;
};

TEST_F(SharedThreadsTest, BuildingAndEncodingInTurnsGiveWhatOneThreadGives) {
  const std::vector<float> rows = Embed();
  const auto lists = BuildAndFind("ivf_flat", rows, 1), graph = BuildAndFind("hnsw", rows, 1);
  tensor::SetUpProcess(kThreads);
  for (int turn = 0; turn < 3; ++turn) {
    ExpectRows(Embed(), rows);
    ExpectHits(BuildAndFind("ivf_flat", rows, kThreads), lists);
    EXPECT_EQ(tensor::ThreadCount(), kThreads);
    ExpectRows(Embed(), rows);
    ExpectHits(BuildAndFind("hnsw", rows, 2), graph);
    EXPECT_EQ(tensor::ThreadCount(), kThreads);  // not FAISS's two
  }
}

TEST_F(SharedThreadsTest, BuildingWhileAnotherThreadEncodesGivesTheSame) {
  const std::vector<float> rows = Embed();
  const auto lists = BuildAndFind("ivf_flat", rows, 1), graph = BuildAndFind("hnsw", rows, 1);
  tensor::SetUpProcess(kThreads);
  std::thread builder([&] {
    for (int turn = 0; turn < 3; ++turn) {
      ExpectHits(BuildAndFind("ivf_flat", rows, kThreads), lists);
      ExpectHits(BuildAndFind("hnsw", rows, kThreads), graph);
    }
  });
  for (int turn = 0; turn < 5; ++turn) ExpectRows(Embed(), rows);
  builder.join();
  EXPECT_EQ(tensor::ThreadCount(), kThreads);
}

}  // namespace
}  // namespace tandem::index
