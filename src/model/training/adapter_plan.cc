#include "model/training/adapter_plan.h"

#include <fmt/format.h>

#include "weights/folders/adapter_folder.h"

namespace tandem::model {

std::optional<tensor::Adapter> MakeAdapter(const weights::LinearSpec& spec,
                                           const tensor::Linear& linear, const AdapterPlan& plan,
                                           std::vector<NamedParameter>* parameters) {
  tensor::Adapter adapter{.scale = plan.scale, .dropout = plan.dropout};
  bool any = false;
  for (size_t i = 0; i < spec.names.size(); ++i) {
    const std::string& name = spec.names[i];
    adapter.down.emplace_back();
    adapter.up.emplace_back();
    if (!plan.linears.contains(name)) continue;
    any = true;
    const int64_t out = linear.weights()[i].size(0);
    adapter.down.back() = plan.start(name, false, {plan.rank, linear.in()});
    adapter.up.back() = plan.start(name, true, {out, plan.rank});
    parameters->push_back({fmt::format("{}{}", name, weights::kLoraDown), adapter.down.back()});
    parameters->push_back({fmt::format("{}{}", name, weights::kLoraUp), adapter.up.back()});
  }
  return any ? std::optional(adapter) : std::nullopt;
}

}  // namespace tandem::model
