#include "weights/spec_builder.h"

#include <fmt/format.h>

#include <utility>

#include "weights/settings/settings_file.h"

namespace tandem::weights {

std::string SpecBuilder::Table(std::string name, int64_t rows, int64_t columns,
                               std::vector<std::string> aliases) {
  spec_->tensors.push_back({name, {rows, columns}, std::move(aliases)});
  return name;
}

NormSpec SpecBuilder::Norm(std::string name, int64_t width, bool bias) {
  spec_->tensors.push_back({name + ".weight", {width}});
  if (bias) spec_->tensors.push_back({name + ".bias", {width}});
  return {std::move(name), bias};
}

LinearSpec SpecBuilder::Linear(std::string name, int64_t out, int64_t in, bool bias) {
  return Stacked({{std::move(name), out}}, in, bias);
}

LinearSpec SpecBuilder::Stacked(const std::vector<Part>& parts, int64_t in, bool bias) {
  LinearSpec linear{.bias = bias};
  for (const Part& part : parts) {
    spec_->tensors.push_back({part.name + ".weight", {part.out, in}});
    if (bias) spec_->tensors.push_back({part.name + ".bias", {part.out}});
    linear.names.push_back(part.name);
  }
  return linear;
}

int64_t HeadWidth(const Settings& config, std::string_view heads_key, std::string_view hidden_key,
                  const EncoderSpec& spec) {
  if (spec.hidden_size % spec.heads != 0) {
    config.Fail(heads_key, fmt::format("a divisor of {} {}", hidden_key, spec.hidden_size));
  }
  return spec.hidden_size / spec.heads;
}

}  // namespace tandem::weights
