#include "weights/spec_builder.h"

#include <utility>

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

}  // namespace tandem::weights
