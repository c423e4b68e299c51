#include "weights/encoder_spec.h"

#include <fmt/format.h>

namespace tandem::weights {
namespace {

std::string_view NormName(NormKind kind) {
  switch (kind) {
    case NormKind::kLayerNorm:
      return "layer norm";
    case NormKind::kRms:
      return "RMS norm";
    case NormKind::kRmsPlusOne:
      return "RMS norm with 1 + weight";
  }
  return "";
}

std::string RateText(const std::optional<double>& rate) {
  return rate ? fmt::format("{}", *rate) : "none";
}

}  // namespace

std::string_view HiddenActivationName(HiddenActivation activation) {
  switch (activation) {
    case HiddenActivation::kGelu:
      return "gelu";
    case HiddenActivation::kGeluTanh:
      return "gelu_tanh";
    case HiddenActivation::kRelu:
      return "relu";
    case HiddenActivation::kSilu:
      return "silu";
  }
  return "";
}

std::string NormText(const EncoderSpec& spec) {
  return fmt::format("{}-norm, {}, epsilon {}", spec.pre_norm ? "pre" : "post", NormName(spec.norm),
                     spec.norm_epsilon);
}

std::string AttentionText(const EncoderSpec& spec, const AttentionSpec& attention) {
  std::string text = attention.causal ? "causal" : "bidirectional";
  if (attention.window > 0) text += fmt::format(", window {}", attention.window);
  text += fmt::format(", scale {}", attention.scale);
  if (attention.soft_cap > 0) text += fmt::format(", soft cap {}", attention.soft_cap);
  if (attention.rotary >= 0) {
    text += ", rotary " + spec.rotaries[static_cast<size_t>(attention.rotary)].text;
  }
  return text;
}

std::string SpecText(const EncoderSpec& spec) {
  std::string text = fmt::format(
      "{} ({}), {} layers of {}, inner {}, {} heads of {}, {} of keys and values\n"
      "{}-norm, {}, epsilon {}, {}{}, embedding scale {}, positions from {}\n",
      spec.architecture, spec.model_type, spec.layers.size(), spec.hidden_size,
      spec.intermediate_size, spec.heads, spec.head_width, spec.key_value_heads,
      spec.pre_norm ? "pre" : "post", NormName(spec.norm), spec.norm_epsilon,
      spec.gated ? "gated " : "", HiddenActivationName(spec.activation), spec.embedding.scale,
      spec.embedding.position_offset);
  std::string last;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    std::string attention = AttentionText(spec, spec.layers[i].attention);
    if (attention == last) continue;
    text += fmt::format("from layer {}: attention {}\n", i, attention);
    last = std::move(attention);
  }
  if (spec.relative_bias) {
    text += fmt::format("relative bias up to distance {}\n", spec.relative_bias->max_distance);
  }
  const DropoutSpec& dropout = spec.dropout;
  text += fmt::format("dropout {} {} {} {} {}\n", RateText(dropout.embedding),
                      RateText(dropout.attention), RateText(dropout.feed_forward_output),
                      RateText(dropout.inner), RateText(dropout.final));
  if (dropout.attention_output != dropout.feed_forward_output) {
    text += fmt::format("dropout of what attention adds {}\n", RateText(dropout.attention_output));
  }
  return text;
}

}  // namespace tandem::weights
