// Records of epochs say what the batches were, and survive a file that was cut off.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "sampling/audit/audit_file.h"
#include "sampling/sampling_worlds.h"
#include "support/temporary_folder.h"

namespace tandem::sampling {
namespace {

// The bytes of the files, as an observer would write them.
class Kept final : public PassAudit {
 public:
  void BeginPass(uint64_t pass, const Pairs& pairs, std::span<const float> probabilities) override {
    files.resize(pass + 1);
    files.back() = PassHead(pass, pairs, probabilities);
  }
  void AddBatch(std::span<const Draw> draws) override { files.back() += PassBatch(draws); }
  void EndPass(std::span<const LeftOut> left_out) override { files.back() += PassEnd(left_out); }

  std::vector<std::string> files;
};

PassRecord Read(const std::string& bytes) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "pass", bytes);
  return ReadPassRecord(folder.path() / "pass");
}

class EveryPruningSampler : public testing::TestWithParam<const SamplerInfo*> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryPruningSampler,
                         testing::Values(&kRandomPruning, &kStaticPruning, &kDynamicPruning,
                                         &kInfoBatch),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(EveryPruningSampler, RecordsWhatItDrewAndLeftOut) {
  const Examples examples = SharedExamples(80);
  const Pairs pairs(examples, false);
  const auto sampler = MakeScored(*GetParam(), examples, {.batch = 8, .length = {.epochs = 4}});
  Kept kept;
  sampler->set_audit(&kept);
  ASSERT_TRUE(sampler->Prunes());
  for (uint64_t pass = 0; pass < 3; ++pass) {
    const std::vector<Batch> batches = TakePass(*sampler, pass);
    const PassRecord record = Read(kept.files.at(pass));
    EXPECT_EQ(record.pass, pass);
    EXPECT_TRUE(record.complete);
    ASSERT_EQ(record.pair_counts.size(), 80);
    ASSERT_EQ(record.probabilities.size(), pairs.size());
    ASSERT_EQ(record.batches.size(), batches.size());
    std::set<uint32_t> drawn;
    for (size_t b = 0; b < batches.size(); ++b) {
      ASSERT_EQ(record.batches[b].size(), batches[b].rows());
      for (size_t row = 0; row < batches[b].rows(); ++row) {
        const auto& [query, document] = record.batches[b][row];
        EXPECT_EQ(query, batches[b].queries[row]);
        EXPECT_EQ(document, batches[b].documents[row]);
        EXPECT_GT(record.probabilities[pairs.Find(query, document)], 0);
        drawn.insert(query);
      }
    }
    EXPECT_EQ(drawn.size() + record.left_out.size(), 80);
    for (const LeftOut& one : record.left_out) {
      EXPECT_FALSE(drawn.contains(one.query));
      EXPECT_EQ(std::isnan(one.score), GetParam() == &kRandomPruning);
    }
    double sum = 0;
    for (const float probability : record.probabilities) sum += probability;
    if (GetParam() != &kInfoBatch) {
      EXPECT_NEAR(sum, static_cast<double>(sampler->QueriesIn(pass)), 1e-3);
    }
  }
}

// How often pairs are drawn is what the record of the epoch's beginning says.
TEST(PassRecord, ProbabilitiesAreThoseOfTheDraws) {
  const Examples examples = PlainExamples(12, 3);
  const std::vector<float> scores = PseudoScores(examples, 8);
  std::vector<int> drawn(36);
  std::vector<float> probabilities;
  constexpr int kRuns = 1000;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto sampler = kDynamicPruning.make(
        examples, {.seed = seed, .batch = 100, .length = {.epochs = 1000}, .scores = {scores, {}}});
    Kept kept;
    sampler->set_audit(&kept);
    for (const uint32_t document : sampler->Next().documents) ++drawn[document];
    if (seed == 1) probabilities = Read(kept.files.at(0)).probabilities;
  }
  for (size_t pair = 0; pair < 36; ++pair) {
    const double p = probabilities[pair];
    const double deviation = std::sqrt(kRuns * p * (1 - p));
    EXPECT_NEAR(drawn[pair], kRuns * p, 5 * deviation + 1e-3) << pair;
  }
}

TEST(PassRecord, OneThatWasCutOffGivesItsWholeBatches) {
  const Examples examples = PlainExamples(20, 1);
  const auto sampler = MakeScored(kDynamicPruning, examples, {.batch = 4});
  Kept kept;
  sampler->set_audit(&kept);
  TakePass(*sampler, 0);
  const std::string whole = kept.files.at(0);
  const size_t head = 8 + 3 * 8 + 20 * 4 + 20 * 4;
  for (size_t length = 0; length < whole.size(); ++length) {
    if (length < head) {
      EXPECT_THROW(Read(whole.substr(0, length)), DataError) << length;
      continue;
    }
    const PassRecord record = Read(whole.substr(0, length));
    EXPECT_FALSE(record.complete);
    EXPECT_EQ(record.batches.size(), std::min<size_t>(3, (length - head) / 36)) << length;
  }
  EXPECT_THROW(Read("TDMPASS1" + std::string(24, '\xff')), DataError);
}

TEST(FirstScores, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / kFirstScoresName;
  const std::vector<float> scores = {0.25F, -1, 0.5F};
  WriteFileAtomically(path, FirstScoresBytes(scores));
  EXPECT_EQ(ReadFirstScores(path), scores);
  const std::string whole = FirstScoresBytes(scores);
  for (const std::string& broken :
       {whole.substr(0, whole.size() - 1), whole + "x", "TDMPASS1" + whole.substr(8)}) {
    WriteFileAtomically(path, broken);
    EXPECT_THROW(ReadFirstScores(path), DataError);
  }
}

// The uniform sampler has nothing to record.
TEST(PassRecord, UniformHasNone) {
  const Examples examples = PlainExamples(20, 1);
  const auto sampler = kUniform.make(examples, {.batch = 4});
  Kept kept;
  sampler->set_audit(&kept);
  sampler->Next();
  EXPECT_FALSE(sampler->Prunes());
  EXPECT_TRUE(kept.files.empty());
}

}  // namespace
}  // namespace tandem::sampling
