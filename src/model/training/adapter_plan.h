// Plans which linear maps of an encoder get low-rank adapters, and with which values they start.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/forward.h"
#include "tensor/core/tensor.h"
#include "tensor/linear.h"
#include "weights/encoder_spec.h"

namespace tandem::model {

struct AdapterPlan {
  std::set<std::string> linears;  // canonical names; a stacked map's parts each have their own
  int64_t rank = 0;
  double scale = 1;    // of B A
  double dropout = 0;  // of what A reads, in training
  // Gives the first values of A [rank, K] or (`up`) B [N, rank]: a leaf, which wants a gradient
  // unless this adapter is frozen.
  std::function<tensor::Tensor(const std::string& linear, bool up, const tensor::Shape& shape)>
      start;
};

// The adapters of one map by the plan; their parameters, "NAME.lora_A.weight" and
// "NAME.lora_B.weight", are appended to `parameters`. Gives nothing where no part of the map has
// one.
std::optional<tensor::Adapter> MakeAdapter(const weights::LinearSpec& spec,
                                           const tensor::Linear& linear, const AdapterPlan& plan,
                                           std::vector<NamedParameter>* parameters);

}  // namespace tandem::model
