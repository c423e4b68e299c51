// The reference implementation of pooling.

#include <cstdint>
#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/reference/loop_arguments.h"
#include "tensor/reference/pool_loops.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor::reference {

Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const DType type = x.dtype();
  const Tensor values = LoopValues(x, type), starts = OnHost(tokens.sequence_starts);
  const Tensor prompts = OnHost(tokens.prompt_tokens);
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
  const Tensor sums = Empty({tokens.texts(), x.size(1)}, kDouble);
  ForLoopType(type, [&](auto zero) { loops::Pool(arguments(zero), sums.data_ptr<double>()); });
  const Tensor out = FromLoops(sums, LoopType(type), x.device());
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference Pool", out, {x}, [=](const Tensor& grad) {
    const Tensor above = OnHost(grad), grad_x = Zeros(values.sizes(), LoopType(type));
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::PoolBackward(arguments(zero), above.data_ptr<T>(), grad_x.data_ptr<T>());
    });
    return std::vector<Tensor>{FromLoops(grad_x, type, grad.device())};
  });
}

}  // namespace tandem::tensor::reference
