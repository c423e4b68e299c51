#include "weights/encoder_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kLayerPrefix = "layers.";
constexpr std::string_view kAllLinear = "all-linear";

void Add(const NormSpec& norm, std::vector<std::string>* tensors) {
  if (norm.name.empty()) return;
  tensors->push_back(norm.name + ".weight");
  if (norm.bias) tensors->push_back(norm.name + ".bias");
}

void Add(const LinearSpec& linear, std::vector<std::string>* tensors) {
  for (const std::string& name : linear.names) {
    tensors->push_back(name + ".weight");
    if (linear.bias) tensors->push_back(name + ".bias");
  }
}

std::vector<const LinearSpec*> LinearsOf(const LayerSpec& layer) {
  return {&layer.query_key_value, &layer.attention_output, &layer.up, &layer.down};
}

EncoderPart Embeddings(const EncoderSpec& spec) {
  EncoderPart part{"embeddings", {}};
  for (const std::string* table :
       {&spec.embedding.word, &spec.embedding.position, &spec.embedding.type}) {
    if (!table->empty()) part.tensors.push_back(*table);
  }
  Add(spec.embedding.norm, &part.tensors);
  return part;
}

EncoderPart LayerPart(const LayerSpec& layer, size_t index) {
  EncoderPart part{fmt::format("{}{}", kLayerPrefix, index), {}};
  for (const LinearSpec* linear : LinearsOf(layer)) Add(*linear, &part.tensors);
  for (const NormSpec* norm :
       {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.attention_output_norm,
        &layer.feed_forward_norm, &layer.feed_forward_output_norm}) {
    Add(*norm, &part.tensors);
  }
  return part;
}

std::optional<size_t> NumberOf(std::string_view text) {
  size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return number;
}

// Layers `first` to `last`, as "layers.A-B" names them.
struct LayerRange {
  size_t first, last;
};
std::optional<LayerRange> RangeOf(std::string_view pattern) {
  const size_t dash = pattern.find('-');
  if (!pattern.starts_with(kLayerPrefix) || dash == std::string_view::npos) return std::nullopt;
  const auto first = NumberOf(pattern.substr(kLayerPrefix.size(), dash - kLayerPrefix.size()));
  const auto last = NumberOf(pattern.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return LayerRange{*first, *last};
}

// Says whether `target` is `name` or its last components.
bool IsSuffix(std::string_view target, std::string_view name) {
  return name == target || (name.size() > target.size() && name.ends_with(target) &&
                            name[name.size() - target.size() - 1] == '.');
}

// The last components of the linear maps' names, each once, in their order.
std::vector<std::string> ShortNames(const std::vector<std::string>& names) {
  std::vector<std::string> short_names;
  for (const std::string& name : names) {
    std::string last = name.substr(name.rfind('.') + 1);
    if (std::find(short_names.begin(), short_names.end(), last) == short_names.end()) {
      short_names.push_back(std::move(last));
    }
  }
  return short_names;
}

}  // namespace

std::vector<EncoderPart> PartsOf(const EncoderSpec& spec) {
  std::vector<EncoderPart> parts = {Embeddings(spec)};
  if (spec.relative_bias) {
    parts.push_back({"relative_bias", {spec.relative_bias->name + ".weight"}});
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) parts.push_back(LayerPart(spec.layers[i], i));
  EncoderPart final_norm{"final_norm", {}};
  Add(spec.final_norm, &final_norm.tensors);
  if (!final_norm.tensors.empty()) parts.push_back(std::move(final_norm));
  return parts;
}

bool NamesPart(std::string_view pattern, std::string_view part) {
  if (pattern == part) return true;
  const std::optional<LayerRange> range = RangeOf(pattern);
  if (!range || !part.starts_with(kLayerPrefix)) return false;
  const auto number = NumberOf(part.substr(kLayerPrefix.size()));
  return number && range->first <= *number && *number <= range->last;
}

std::string MissingLayer(std::string_view pattern, const std::vector<EncoderPart>& parts) {
  const std::optional<LayerRange> range = RangeOf(pattern);
  if (!range) return "";
  // Layers are counted from 0 without a gap, so that the ends tell.
  for (const size_t number : {range->first, range->last}) {
    std::string layer = fmt::format("{}{}", kLayerPrefix, number);
    if (std::none_of(parts.begin(), parts.end(),
                     [&](const EncoderPart& part) { return part.name == layer; })) {
      return layer;
    }
  }
  return "";
}

std::string PartsText(const std::vector<std::string>& parts) {
  std::vector<std::string> texts;
  std::string first_layer, last_layer;
  for (const std::string& part : parts) {
    if (!part.starts_with(kLayerPrefix)) {
      texts.push_back(part);
      continue;
    }
    const bool begins = first_layer.empty();
    if (begins) first_layer = part;
    last_layer = part;
    std::string text = begins ? part : fmt::format("{} to {}", first_layer, last_layer);
    if (begins) {
      texts.push_back(std::move(text));
    } else {
      texts.back() = std::move(text);
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> LinearNames(const EncoderSpec& spec) {
  std::vector<std::string> names;
  for (const LayerSpec& layer : spec.layers) {
    for (const LinearSpec* linear : LinearsOf(layer)) {
      names.insert(names.end(), linear->names.begin(), linear->names.end());
    }
  }
  return names;
}

std::set<std::string> AdapterTargets(const EncoderSpec& spec, std::span<const std::string> targets,
                                     const std::set<std::string>& frozen_tensors) {
  const std::vector<std::string> names = LinearNames(spec);
  const bool all = targets.size() == 1 && targets.front() == kAllLinear;
  const std::string known =
      fmt::format("{} (as in {}), or \"{}\" for all", fmt::join(ShortNames(names), ", "),
                  names.empty() ? "" : names.front(), kAllLinear);
  if (targets.empty()) {
    throw UsageError(fmt::format("is empty; it must name linear maps: {}", known));
  }
  std::set<std::string> found;
  for (const std::string& target : targets) {
    bool any = false;
    for (const std::string& name : names) {
      if (!all && !IsSuffix(target, name)) continue;
      any = true;
      if (!frozen_tensors.contains(name + ".weight")) found.insert(name);
    }
    if (any) continue;
    if (target == kAllLinear) {
      throw UsageError(fmt::format(
          "has \"{}\", which means every linear map, beside other names; give it alone, or the "
          "names alone",
          kAllLinear));
    }
    throw UsageError(
        fmt::format("\"{}\" names no linear map of this encoder; it has {}", target, known));
  }
  return found;
}

std::set<std::string> LargeTensors(const EncoderSpec& spec) {
  std::set<std::string> large = {spec.embedding.word};
  for (const std::string& name : LinearNames(spec)) large.insert(name + ".weight");
  return large;
}

}  // namespace tandem::weights
