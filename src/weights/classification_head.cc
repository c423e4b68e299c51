#include "weights/classification_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "weights/settings/settings_file.h"
#include "weights/spec_builder.h"

namespace tandem::weights {
namespace {

constexpr int64_t kMaxLabels = 100'000;

}  // namespace

const ClassificationHead* FindClassificationHead(std::string_view class_name) {
  for (const ClassificationHead* head : ClassificationHeads()) {
    const auto& names = head->class_names;
    if (std::find(names.begin(), names.end(), class_name) != names.end()) return head;
  }
  return nullptr;
}

std::vector<std::string> LabelsOf(const Settings& config) {
  const Json* names = config.Find("id2label");
  if (names != nullptr && !names->is_object()) {
    config.Fail("id2label", "an object of numbers and names");
  }
  const int64_t count = names != nullptr && !names->empty()
                            ? static_cast<int64_t>(names->size())
                            : config.Integer("num_labels", 1, kMaxLabels).value_or(2);
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) {
    const std::string number = fmt::format("{}", i);
    const bool named = names != nullptr && names->contains(number) && (*names)[number].is_string();
    labels.push_back(named ? (*names)[number].get<std::string>() : "LABEL_" + number);
  }
  return labels;
}

ClassificationSpec FirstTokenHead(const Settings& config, const EncoderSpec& encoder,
                                  const std::string& dense, const std::string& activation,
                                  const std::string& classifier) {
  const int64_t hidden = encoder.hidden_size;
  ClassificationSpec spec;
  spec.labels = LabelsOf(config);
  EncoderSpec parts;  // takes the tensors
  SpecBuilder build(&parts);
  spec.dense = build.Linear(dense, hidden, hidden, true);
  spec.activation = activation;
  spec.classifier =
      build.Linear(classifier, static_cast<int64_t>(spec.labels.size()), hidden, true);
  spec.tensors = std::move(parts.tensors);
  return spec;
}

}  // namespace tandem::weights
