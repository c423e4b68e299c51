#include "weights/modules/head_module.h"

#include <utility>

namespace tandem::weights {

const TensorView* ModuleSource::Find(std::string_view name) const {
  if (weights != nullptr) return weights->Find(name);
  const auto found = start.find(name);
  return found == start.end() ? nullptr : found->second;
}

const ModuleSource* SourceOf(const HeadModule& module) {
  if (const auto* dense = std::get_if<Dense>(&module)) return dense;
  return std::get_if<LayerNorm>(&module);
}

ModuleSource* SourceOf(HeadModule& module) {
  return const_cast<ModuleSource*>(SourceOf(std::as_const(module)));
}

std::vector<ModuleParameter> ParametersOf(const HeadModule& module) {
  if (const auto* dense = std::get_if<Dense>(&module)) {
    std::vector<ModuleParameter> parameters = {
        {"linear.weight", {dense->out_features, dense->in_features}}};
    if (dense->bias) parameters.push_back({"linear.bias", {dense->out_features}});
    return parameters;
  }
  if (const auto* norm = std::get_if<LayerNorm>(&module)) {
    return {{"norm.weight", {norm->dimension}}, {"norm.bias", {norm->dimension}}};
  }
  return {};
}

int64_t WidthBefore(const HeadModule& module, int64_t width) {
  if (const auto* dense = std::get_if<Dense>(&module)) return dense->in_features;
  const auto* norm = std::get_if<LayerNorm>(&module);
  return norm == nullptr ? width : norm->dimension;
}

int64_t WidthBehind(const HeadModule& module, int64_t width) {
  if (const auto* pooling = std::get_if<Pooling>(&module)) {
    return width * static_cast<int64_t>(pooling->modes.size());
  }
  const auto* dense = std::get_if<Dense>(&module);
  return dense == nullptr ? width : dense->out_features;
}

}  // namespace tandem::weights
