// The head of RoBERTa's kin, as transformers' RobertaForSequenceClassification, and MPNet's, which
// has the same names.
#include "weights/classification_head.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kClasses[] = {
    "RobertaForSequenceClassification", "XLMRobertaForSequenceClassification",
    "CamembertForSequenceClassification", "MPNetForSequenceClassification"};

}  // namespace

extern const ClassificationHead kRobertaHead{
    .name = "roberta",
    .summary = "a map of the first token, tanh, then a linear map",
    .class_names = kClasses,
    .read =
        [](const Settings& config, const EncoderSpec& encoder) {
          return FirstTokenHead(config, encoder, "classifier.dense", "tanh", "classifier.out_proj");
        },
};

}  // namespace tandem::weights
