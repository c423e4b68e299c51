// What config.json says of a classifier's head, and what holds where it says nothing.
#include "weights/classification_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json/json_reader.h"
#include "support/error_matching.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

using nlohmann::json;
using testing::ElementsAre;

ClassificationSpec Read(const json& config,
                        const std::string& class_name = "ModernBertForSequenceClassification") {
  EncoderSpec encoder;
  encoder.hidden_size = 8;
  return FindClassificationHead(class_name)
      ->read(Settings("config.json", ParseJson(config.dump())), encoder);
}

TEST(ClassificationHeadSpec, LabelsAreTwoWhereNothingSaysHowMany) {
  EXPECT_THAT(Read(json::object()).labels, ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_THAT(Read({{"id2label", json::object()}}).labels, ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_THAT(Read({{"num_labels", 1}}).labels, ElementsAre("LABEL_0"));
  EXPECT_THAT(Read({{"num_labels", 3}}).labels, ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
  EXPECT_THAT(Read({{"num_labels", 3}, {"id2label", {{"0", "no"}, {"1", "yes"}}}}).labels,
              ElementsAre("no", "yes"));
  EXPECT_THAT(Read({{"id2label", {{"0", 7}, {"1", "yes"}}}}).labels, ElementsAre("LABEL_0", "yes"));
  ExpectError([] { Read({{"num_labels", 0}}); }, ExitCode::kModel, {"num_labels"});
  ExpectError([] { Read({{"id2label", {"a", "b"}}}); }, ExitCode::kModel, {"id2label"});
}

TEST(ClassificationHeadSpec, TheClassifierHasARowForEachLabel) {
  for (const ClassificationHead* head : ClassificationHeads()) {
    const ClassificationSpec spec = Read({{"num_labels", 3}}, std::string(head->class_names[0]));
    const std::string name = spec.classifier.names.front() + ".weight";
    const auto found =
        std::find_if(spec.tensors.begin(), spec.tensors.end(),
                     [&](const EncoderTensor& tensor) { return tensor.name == name; });
    ASSERT_NE(found, spec.tensors.end()) << name;
    EXPECT_EQ(found->shape, (Shape{3, 8})) << name;
  }
}

// The names are transformers'.
TEST(ClassificationHeadSpec, ActivationsOfModernBert) {
  EXPECT_EQ(Read(json::object()).activation, "gelu");
  const auto named = [](const std::string& name) {
    return Read({{"classifier_activation", name}}).activation;
  };
  EXPECT_EQ(named("gelu_new"), "gelu_tanh");
  EXPECT_EQ(named("gelu_pytorch_tanh"), "gelu_tanh");
  for (const char* same : {"gelu", "relu", "silu", "tanh"}) EXPECT_EQ(named(same), same);
  ExpectError([&] { named("mish"); }, ExitCode::kModel, {"classifier_activation", "mish"});
}

TEST(ClassificationHeadSpec, DefaultsOfModernBert) {
  const ClassificationSpec spec = Read(json::object());
  EXPECT_FALSE(spec.mean);
  EXPECT_FALSE(spec.dense.bias);
  EXPECT_FALSE(spec.norm.bias);
  EXPECT_EQ(spec.norm_epsilon, 1e-5);
  const ClassificationSpec other = Read({{"classifier_pooling", "mean"},
                                         {"classifier_bias", true},
                                         {"norm_bias", true},
                                         {"norm_eps", 1e-6}});
  EXPECT_TRUE(other.mean);
  EXPECT_TRUE(other.dense.bias);
  EXPECT_TRUE(other.norm.bias);
  EXPECT_EQ(other.norm_epsilon, 1e-6);
}

}  // namespace
}  // namespace tandem::weights
