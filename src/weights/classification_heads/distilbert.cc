// DistilBERT's head, as transformers' DistilBertForSequenceClassification.
#include "weights/classification_head.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kClasses[] = {"DistilBertForSequenceClassification"};

}  // namespace

extern const ClassificationHead kDistilBertHead{
    .name = "distilbert",
    .summary = "a map of the first token, ReLU, then a linear map",
    .class_names = kClasses,
    .read =
        [](const Settings& config, const EncoderSpec& encoder) {
          return FirstTokenHead(config, encoder, "pre_classifier", "relu", "classifier");
        },
};

}  // namespace tandem::weights
