#include "libtorch/operations/arguments.h"

#include <memory>
#include <optional>

#include "libtorch/bridge.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"
#include "tensor/profile/operation_work.h"

namespace tandem::libtorch {
namespace {

// The adapter of `map` without its tensors.
portable::Adapter SettingsOf(const tensor::Adapter& adapter) {
  portable::Adapter settings{.scale = adapter.scale};
  if (const auto now = tensor::AdapterDropout::Of(adapter)) {
    settings.dropout = now->dropout;
    settings.row_keys = AsTorch(now->tokens.row_keys);
  }
  return settings;
}

}  // namespace

Arguments& Arguments::Add(const tensor::Tensor& x) {
  tensors_.push_back(x);
  return *this;
}

Arguments& Arguments::Add(const tensor::Norm& norm) { return Add(norm.gamma).Add(norm.beta); }

Arguments& Arguments::Add(const tensor::Linear& linear) {
  const auto add = [&](const std::vector<tensor::Tensor>& list) {
    tensors_.insert(tensors_.end(), list.begin(), list.end());
  };
  add(linear.weights());
  add(linear.biases());
  if (const tensor::LowRank* low_rank = linear.low_rank()) {
    add(low_rank->adapter().down);
    add(low_rank->adapter().up);
  }
  return *this;
}

std::vector<at::Tensor> ArgumentReader::Next(const std::vector<tensor::Tensor>& list) {
  std::vector<at::Tensor> read;
  for (size_t i = 0; i < list.size(); ++i) read.push_back(Next());
  return read;
}

portable::Norm ArgumentReader::Next(const tensor::Norm& norm) {
  const at::Tensor gamma = Next(), beta = Next();
  return {norm.kind, gamma, beta, norm.epsilon};
}

portable::Linear ArgumentReader::Next(const tensor::Linear& linear, tensor::DType type) {
  const tensor::Linear base = linear.Base();
  portable::Linear map;
  map.weights = Next(linear.weights());
  map.biases = Next(linear.biases());
  map.weight = AsTorch(base.WeightIn(type));
  map.bias = AsTorch(base.BiasIn(type));
  map.backward_work = [base](const at::Tensor& x) {
    if (tensor::Profile::Active() == nullptr) return tensor::Work();
    return AffineWork(FromTorch(x), base, tensor::Pass::kBackward);
  };
  if (const tensor::LowRank* low_rank = linear.low_rank()) {
    const tensor::Adapter& adapter = low_rank->adapter();
    map.adapter = SettingsOf(adapter);
    map.adapter->down = Next(adapter.down);
    map.adapter->up = Next(adapter.up);
  }
  return map;
}

tensor::Norm NormOf(const tensor::LayerNorm& norm) {
  return {tensor::Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon};
}

portable::Tokens TokensOf(const tensor::PackedTokens& tokens) {
  return {.ids = AsTorch(tokens.ids),
          .positions = AsTorch(tokens.positions),
          .types = AsTorch(tokens.types),
          .sequence_starts = AsTorch(tokens.sequence_starts),
          .row_keys = AsTorch(tokens.row_keys),
          .prompt_tokens = AsTorch(tokens.prompt_tokens),
          .longest = tokens.longest};
}

portable::Tokens TokensWithClasses(const tensor::PackedTokens& tokens) {
  const auto make = [&] {
    return std::make_shared<const LengthClasses>(AsTorch(tokens.HostStarts()),
                                                 TorchDevice(tokens.ids.device()));
  };
  portable::Tokens own = TokensOf(tokens);
  own.classes = tokens.back_end_slot ? tokens.back_end_slot->Get<LengthClasses>(make) : make();
  return own;
}

}  // namespace tandem::libtorch
