// The example of docs/sampling.md, "Mining while training".
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/training_set.h"
#include "sampling/catalogue.h"
#include "search/mining/mined.h"
#include "train/inputs/run_data.h"

namespace tandem::train {
namespace {

class MiningExample : public testing::Test {
 protected:
  MiningExample() {
    data::Dataset dataset{.file = "qrels.tsv"};
    dataset.queries.Add("q", "question");
    for (const char* id : {"P", "A", "B", "C", "D", "E", "N"}) dataset.documents.Add(id, id);
    dataset.judged.push_back(
        {.query = 0, .judgements = {{.document = 0, .grade = 1}, {.document = 6, .grade = 0}}});
    set_ = data::BuildTrainingSet(std::move(dataset), 1);
    task_ = search::MakeMiningTask(set_);
  }

  // Ids of what is mined from a ranking, best first, as a pool of the sampler.
  sampling::ExtraPool Mined(std::string_view ranking, const sampling::Examples& examples) const {
    std::vector<search::Hit> hits;
    for (const char id : ranking) {
      hits.push_back({*set_.documents.Find(std::string(1, id)), 1 - 0.1F * hits.size()});
    }
    search::Mined mined = search::NothingMined(task_);
    search::MineQuery(task_, {.ranks = {1, 4}, .negatives = 2}, 0, hits, &mined);
    std::vector<uint32_t> documents;
    for (const search::Hit& hit : mined.queries[0].negatives) documents.push_back(hit.document);
    const auto count = static_cast<uint32_t>(documents.size());
    return sampling::ExtraPool(examples, {0, count}, documents);
  }

  data::TrainingSet set_;
  search::MiningTask task_;
};

TEST_F(MiningExample, StepsDrawTheMinedAndTheJudgedNegatives) {
  const std::vector<uint32_t> which = {0};
  const sampling::Examples examples = MakeExamples(set_, 1, which);
  const auto sampler = sampling::kUniform.make(examples, {.batch = 1, .negatives = 1});
  const auto drawn = [&] {
    std::set<std::string> ids;
    for (int step = 0; step < 100; ++step) {
      const sampling::Batch batch = sampler->Next();
      EXPECT_EQ(batch.columns(), 2);
      ids.insert(std::string(set_.documents.id(batch.documents.back())));
    }
    return ids;
  };
  sampler->set_mined(Mined("PABCDEN", examples));
  EXPECT_EQ(drawn(), (std::set<std::string>{"B", "C", "N"}));
  sampler->set_mined(Mined("PAECBDN", examples));
  EXPECT_EQ(drawn(), (std::set<std::string>{"E", "C", "N"}));
}

}  // namespace
}  // namespace tandem::train
