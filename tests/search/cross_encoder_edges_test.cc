// Cross-encoders of one token type, with an activation that no golden case has, and with broken
// weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/dataset.h"
#include "model/encoders/cross_encoder.h"
#include "model/encoders/formula_cross_encoder.h"
#include "search/scoring/cross_encoder_scores.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CrossEncoderEdges : public testing::Test {
 protected:
  CrossEncoderEdges() {
    tensor::SetUpProcess(0);
    dataset_.queries.Add("q", "alpha beta", 0);
    dataset_.documents.Add("a", "red green", 0);
    dataset_.documents.Add("b", "gamma", 0);
    pairs_.query_of = {0};
    pairs_.document_of = {0, 1};
    pairs_.starts.push_back(2);
  }
  void Write(json one, const json& changes, const std::string& prefix) const {
    one["config"].update(changes);
    WriteCrossEncoder(folder_.path(), one, prefix);
  }
  search::CrossEncoderLogits Score() const {
    model::CrossEncoder model(folder_.path());
    return search::ScoreByCrossEncoder(model, dataset_, pairs_, {});
  }

  TemporaryFolder folder_;
  data::Dataset dataset_;
  data::JudgedPairs pairs_;
};

// Its pairs' template says type 1 of the document, for which there is no row.
TEST_F(CrossEncoderEdges, OneTokenTypeIsTheTypeOfBothTexts) {
  json one = CrossEncoderCase("bert");
  Write(one, {{"type_vocab_size", 1}}, "bert.");
  EXPECT_FALSE(model::CrossEncoder(folder_.path()).token_types());
  const std::vector<float> logits = Score().logits;
  one["tokenizer_config"]["model_input_names"] = {"input_ids", "attention_mask"};
  Write(one, {{"type_vocab_size", 1}}, "bert.");
  EXPECT_EQ(Score().logits, logits);
  Write(CrossEncoderCase("bert"), json::object(), "bert.");
  EXPECT_TRUE(model::CrossEncoder(folder_.path()).token_types());
  EXPECT_NE(Score().logits, logits);
}

TEST_F(CrossEncoderEdges, TwoLabelsWhereConfigJsonNamesNone) {
  json one = CrossEncoderCase("bert");
  one["config"].erase("id2label");
  Write(one, json::object(), "bert.");
  const model::CrossEncoder model(folder_.path());
  EXPECT_THAT(model.labels(), testing::ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_EQ(model.activation(), "Identity");
  EXPECT_EQ(Score().logits.size(), 4U);
}

// gelu_new and gelu_pytorch_tanh are one function, and near GELU.
TEST_F(CrossEncoderEdges, GeluByTanh) {
  const auto logits = [&](const std::string& activation) {
    Write(CrossEncoderCase("modernbert"), {{"classifier_activation", activation}}, "model.");
    return Score().logits;
  };
  const std::vector<float> exact = logits("gelu"), by_tanh = logits("gelu_new");
  EXPECT_EQ(logits("gelu_pytorch_tanh"), by_tanh);
  EXPECT_NE(by_tanh, exact);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(by_tanh[i], exact[i], 0.01);
}

TEST_F(CrossEncoderEdges, ScoresThatAreNotFiniteAreAnError) {
  Write(CrossEncoderCase("bert"), json::object(), "bert.");
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float broken : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    FillTensor(folder_.path() / "model.safetensors", "classifier.bias", broken);
    try {
      Score();
      FAIL() << broken;
    } catch (const NumericError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a score is not finite: the model's weights are broken"));
    }
  }
}

}  // namespace
}  // namespace tandem
