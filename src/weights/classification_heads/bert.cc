// BERT's pooler and a linear map, as transformers' BertForSequenceClassification.
#include "weights/classification_head.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kClasses[] = {"BertForSequenceClassification"};

}  // namespace

extern const ClassificationHead kBertHead{
    .name = "bert",
    .summary = "the pooler (first token, tanh), then a linear map",
    .class_names = kClasses,
    .read =
        [](const Settings& config, const EncoderSpec& encoder) {
          return FirstTokenHead(config, encoder, "pooler.dense", "tanh", "classifier");
        },
};

}  // namespace tandem::weights
