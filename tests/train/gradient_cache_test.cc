// The gradient cache against the direct gradient: every objective, a real encoder with dropout,
// graded documents and a teacher's scores.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/temporary_folder.h"
#include "model/dual_encoder.h"
#include "model/tiny_model.h"
#include "optim/gradients.h"
#include "sampling/catalogue.h"
#include "train/example_texts.h"
#include "train/step.h"

namespace tandem::train {
namespace {

constexpr uint32_t kQueries = 12;

// Words of the tiny model in random order; each query has a positive and documents of grades 0.6,
// 0.3 and 0, all with a teacher's score.
data::TrainingSet Graded() {
  RandomStream stream({7, "gradient cache test"});
  const std::vector<std::string> words = TinyWords();
  const auto text = [&](uint64_t longest) {
    std::string line;
    for (uint64_t n = 1 + stream.Below(longest); n > 0; --n) {
      line += words[stream.Below(words.size())] + " ";
    }
    return line;
  };
  data::Dataset dataset;
  for (uint32_t q = 0; q < kQueries; ++q) {
    dataset.queries.Add(fmt::format("q{}", q), text(8));
    data::JudgedQuery judged{.query = q, .judgements = {}};
    for (const double grade : {1.0, 0.6, 0.3, 0.0}) {
      const auto document = static_cast<uint32_t>(dataset.documents.size());
      dataset.documents.Add(fmt::format("d{}", document), text(30));
      judged.judgements.push_back(
          {.document = document, .grade = grade, .score = 4 * grade + stream.Uniform()});
    }
    dataset.judged.push_back(judged);
  }
  return data::BuildTrainingSet(std::move(dataset), 1);
}

class GradientCache : public testing::TestWithParam<const objective::ObjectiveInfo*> {
 protected:
  GradientCache() : set_(Graded()) {
    WriteTinyModel(folder_.path());
    model_ = model::DualEncoder::Load(folder_.path(), {.dropout = 0.1});
    std::vector<uint32_t> all(set_.examples.size());
    std::iota(all.begin(), all.end(), 0);
    texts_ = MakeExampleTexts(set_, 1, all, *model_, 1);
  }
  // Gradients of all parameters in a row, and the loss.
  std::pair<std::vector<at::Tensor>, double> Run(const TrainingBatch& batch, const Goal& goal,
                                                 int64_t chunk_tokens, uint64_t step) {
    const double loss = ForwardBackward(*model_, batch, goal,
                                        {.forward = {.training = true, .seed = 3, .step = step},
                                         .chunk_tokens = chunk_tokens})
                            .loss;
    std::vector<at::Tensor> gradients;
    for (const auto& parameter : model_->Parameters()) {
      gradients.push_back(parameter.value.grad().clone());
    }
    optim::ClearGradients(model_->Parameters());
    return {std::move(gradients), loss};
  }

  TemporaryFolder folder_;
  data::TrainingSet set_;
  std::unique_ptr<model::DualEncoder> model_;
  ExampleTexts texts_;
};
INSTANTIATE_TEST_SUITE_P(Catalogue, GradientCache,
                         testing::ValuesIn(objective::Objectives().begin(),
                                           objective::Objectives().end()),
                         [](const auto& test) { return std::string(test.param->name); });

double Largest(const std::vector<at::Tensor>& tensors) {
  double largest = 0;
  for (const at::Tensor& tensor : tensors) {
    largest = std::max(largest, tensor.abs().max().item<double>());
  }
  return largest;
}

TEST_P(GradientCache, EqualsTheDirectGradientWithDropout) {
  const Goal goal = MakeGoal({std::string(GetParam()->name), config::Params(GetParam()->params)});
  const auto sampler = sampling::kUniform.make(
      texts_.examples,
      {.seed = 1, .batch = 8, .negatives = 2, .graded_own = goal.needs.graded_own});
  const BatchMaker maker(texts_, {}, goal.needs);
  const TrainingBatch batch = maker.Make(sampler->Next());
  const auto [want, loss] = Run(batch, goal, 0, 5);
  const double size = Largest(want);
  ASSERT_GT(size, 0);
  // Dropout is at work: another step has another gradient.
  const auto other = Run(batch, goal, 0, 6).first;
  std::vector<at::Tensor> difference;
  for (size_t p = 0; p < want.size(); ++p) difference.push_back(other[p] - want[p]);
  EXPECT_GT(Largest(difference), 1e-2 * size);
  for (const int64_t chunk : {1, 37, 200, 100000}) {
    const auto [got, cached_loss] = Run(batch, goal, chunk, 5);
    EXPECT_NEAR(cached_loss, loss, 1e-5 * std::max(1.0, std::abs(loss)));
    for (size_t p = 0; p < want.size(); ++p) {
      const double worst = (got[p] - want[p]).abs().max().item<double>();
      EXPECT_LT(worst, 1e-4 * size) << model_->Parameters()[p].name << ", chunks of " << chunk;
    }
  }
}

}  // namespace
}  // namespace tandem::train
