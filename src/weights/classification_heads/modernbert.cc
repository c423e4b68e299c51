// ModernBERT's prediction head, as transformers' ModernBertForSequenceClassification.
#include "weights/classification_head.h"
#include "weights/settings/config_keys.h"
#include "weights/settings/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kClasses[] = {"ModernBertForSequenceClassification"};
constexpr std::string_view kPoolings[] = {"cls", "mean"};
constexpr ChoiceKey kPooling{"classifier_pooling", "which rows of a text the head reads", kPoolings,
                             "cls"};
// The activations of transformers that tensor/ops.h knows.
constexpr std::string_view kActivations[] = {"gelu", "gelu_new", "gelu_pytorch_tanh",
                                             "relu", "silu",     "tanh"};
constexpr ChoiceKey kActivation{"classifier_activation", "activation of the prediction head",
                                kActivations, "gelu"};
constexpr BooleanKey kBias{"classifier_bias", "the prediction head's map has a bias"};
constexpr BooleanKey kNormBias{"norm_bias", "layer norms have biases"};
constexpr NumberKey kEpsilon{"norm_eps", "epsilon of layer norms", 0, 1, 1e-5};

ClassificationSpec ReadHead(const Settings& config, const EncoderSpec& encoder) {
  const int64_t hidden = encoder.hidden_size;
  ClassificationSpec spec;
  spec.labels = LabelsOf(config);
  spec.mean = Read(config, kPooling) == "mean";
  const std::string activation = Read(config, kActivation);
  spec.activation = activation.starts_with("gelu_") ? "gelu_tanh" : activation;
  spec.norm_epsilon = Read(config, kEpsilon);
  EncoderSpec parts;  // takes the tensors
  SpecBuilder build(&parts);
  spec.dense = build.Linear("head.dense", hidden, hidden, Read(config, kBias));
  spec.norm = build.Norm("head.norm", hidden, Read(config, kNormBias));
  spec.classifier =
      build.Linear("classifier", static_cast<int64_t>(spec.labels.size()), hidden, true);
  spec.tensors = std::move(parts.tensors);
  return spec;
}

}  // namespace

extern const ClassificationHead kModernBertHead{
    .name = "modernbert",
    .summary = "a map of the first token or the mean, GELU, LayerNorm, then a linear map",
    .class_names = kClasses,
    .read = ReadHead,
    .pooler_of = "modernbert",
};

}  // namespace tandem::weights
