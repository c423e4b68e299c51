// The reference implementation of pooling.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "tensor/autograd.h"
#include "tensor/reference/loop_arguments.h"
#include "tensor/reference/pool_loops.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor::reference {

at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const at::ScalarType type = x.scalar_type();
  const at::Tensor values = LoopValues(x, type), starts = OnHost(tokens.sequence_starts);
  const at::Tensor prompts = OnHost(tokens.prompt_tokens);
  const auto arguments = [=](auto zero) {
    using T = decltype(zero);
    return loops::PoolArguments<T>{
        .x = values.data_ptr<T>(),
        .starts = starts.data_ptr<int32_t>(),
        .prompts = DataOf<int32_t>(prompts),
        .texts = starts.size(0) - 1,
        .width = values.size(1),
        .pooling = pooling,
    };
  };
  const at::Tensor sums = at::empty({tokens.texts(), x.size(1)}, at::kDouble);
  ForLoopType(type, [&](auto zero) { loops::Pool(arguments(zero), sums.data_ptr<double>()); });
  const at::Tensor out = FromLoops(sums, LoopType(type), x.device());
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference Pool", out, {x}, [=](const at::Tensor& grad) {
    const at::Tensor above = OnHost(grad), grad_x = at::zeros(values.sizes(), LoopType(type));
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::PoolBackward(arguments(zero), above.data_ptr<T>(), grad_x.data_ptr<T>());
    });
    return std::vector<at::Tensor>{FromLoops(grad_x, type, grad.device())};
  });
}

}  // namespace tandem::tensor::reference
