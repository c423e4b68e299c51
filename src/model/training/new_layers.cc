#include "model/training/new_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "model/training/training_plan.h"
#include "weights/architecture.h"
#include "weights/settings/settings_file.h"

namespace tandem::model {
namespace {

constexpr double kBertRange = 0.02;
constexpr const char* kKey = "model.reinitialize_layers";

// Names of the normalisations' weights.
std::set<std::string, std::less<>> NormWeights(const weights::EncoderSpec& spec) {
  std::set<std::string, std::less<>> names;
  for (const weights::LayerSpec& layer : spec.layers) {
    for (const weights::NormSpec* norm :
         {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.attention_output_norm,
          &layer.feed_forward_norm, &layer.feed_forward_output_norm}) {
      if (!norm->name.empty()) names.insert(norm->name + ".weight");
    }
  }
  return names;
}

double RangeOf(const weights::ModelFolder& folder) {
  const weights::ModelFiles files = folder.encoder_files();
  return files.Read("config.json").Number("initializer_range", 0, 1e3).value_or(kBertRange);
}

// Two uniform numbers give one of the normal distribution (Box and Muller 1958).
void FillNormal(std::string_view name, double deviation, uint64_t seed, tensor::Tensor& values) {
  const std::string purpose = fmt::format("new layers, {}", name);
  RandomStream stream({.seed = seed, .purpose = purpose});
  auto* numbers = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - stream.Uniform()));
    const double angle = 2 * std::numbers::pi * stream.Uniform();
    numbers[i] = static_cast<float>(deviation * radius * std::cos(angle));
  }
}

void Fill(tensor::Tensor& values, float number) {
  std::fill_n(values.data_ptr<float>(), values.numel(), number);
}

}  // namespace

TensorSource WithNewLayers(TensorSource source, const weights::ModelFolder& folder, int64_t layers,
                           uint64_t seed) {
  if (layers == 0) return source;
  const weights::EncoderSpec& spec = folder.encoder;
  const auto all = static_cast<int64_t>(spec.layers.size());
  if (layers > all) {
    throw TrainingProblem(kKey, fmt::format("is {}, but the encoder of {} has {} layers", layers,
                                            folder.path.native(), all));
  }
  return [source = std::move(source), &spec, &folder, first = all - layers, seed,
          norms = NormWeights(spec), range = RangeOf(folder)](std::string_view name) {
    tensor::Tensor values = source(name);
    const std::optional<int64_t> layer = weights::LayerOf(name, spec);
    if (!layer || *layer < first) return values;
    if (!values.requires_grad()) {
      throw TrainingProblem(
          kKey, fmt::format("starts layer {} of {} anew (from 0), which is frozen and would stay "
                            "random; train it (model.train = \"all\", and model.freeze without it)",
                            *layer, folder.path.native()));
    }
    if (norms.contains(name)) {
      Fill(values, spec.norm == weights::NormKind::kRmsPlusOne ? 0 : 1);
    } else if (name.ends_with(".bias")) {
      Fill(values, 0);
    } else {
      FillNormal(name, range, seed, values);
    }
    return values;
  };
}

}  // namespace tandem::model
