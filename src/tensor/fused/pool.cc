// tensor::Pool, in one pass over the rows where their width allows it.

#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/kernels/cpu/rows/pooling.h"
#include "tensor/ops.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

cpu::PooledTexts PooledTextsOf(const PackedTokens& tokens, int64_t width) {
  return {tokens.sequence_starts.data_ptr<int32_t>(), Data<int32_t>(tokens.prompt_tokens),
          static_cast<size_t>(tokens.texts()), static_cast<size_t>(width)};
}

// `where` is for kMax alone (cpu::MaxPoolForward).
template <typename A>
void PoolForward(Pooling pooling, const A* x, const cpu::PooledTexts& texts, float* out,
                 int32_t* where) {
  const int threads = Threads();
  switch (pooling) {
    case Pooling::kMean:
      return cpu::SumPoolForward<cpu::MeanPool>(x, texts, out, threads);
    case Pooling::kMeanSqrtLen:
      return cpu::SumPoolForward<cpu::MeanSqrtLenPool>(x, texts, out, threads);
    case Pooling::kWeightedMean:
      return cpu::WeightedMeanPoolForward(x, texts, out, threads);
    case Pooling::kMax:
      return cpu::MaxPoolForward(x, texts, out, where, threads);
    case Pooling::kCls:
      return cpu::RowPoolForward<cpu::FirstRow>(x, texts, out, threads);
    case Pooling::kLastToken:
      return cpu::RowPoolForward<cpu::LastRow>(x, texts, out, threads);
  }
}

template <typename A>
void PoolBackward(Pooling pooling, const float* grad, const cpu::PooledTexts& texts,
                  const int32_t* where, A* grad_x) {
  const int threads = Threads();
  switch (pooling) {
    case Pooling::kMean:
      return cpu::SumPoolBackward<cpu::MeanPool>(grad, texts, grad_x, threads);
    case Pooling::kMeanSqrtLen:
      return cpu::SumPoolBackward<cpu::MeanSqrtLenPool>(grad, texts, grad_x, threads);
    case Pooling::kWeightedMean:
      return cpu::WeightedMeanPoolBackward(grad, texts, grad_x, threads);
    case Pooling::kMax:
      return cpu::MaxPoolBackward(grad, texts, where, grad_x, threads);
    case Pooling::kCls:
      return cpu::RowPoolBackward<cpu::FirstRow>(grad, texts, grad_x, threads);
    case Pooling::kLastToken:
      return cpu::RowPoolBackward<cpu::LastRow>(grad, texts, grad_x, threads);
  }
}

}  // namespace

Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const ProfileScope scope("Pool", RowsWork(x.size(0), x.size(1), 1, x.dtype()));
  const Form form = FormOf(x, "Pool", {x.size(1)});
  if (form == Form::kReference) return reference::Pool(x, tokens, pooling);
  if (form == Form::kPortable) return BackEndOperations().Pool(x, tokens, pooling);
  const int64_t width = x.size(1);
  const Tensor out = Empty({tokens.texts(), width}, kFloat);
  Tensor where;
  if (pooling == Pooling::kMax) where = Empty({tokens.texts(), width}, kInt);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    PoolForward<A>(pooling, Data<A>(x), PooledTextsOf(tokens, width), out.data_ptr<float>(),
                   Data<int32_t>(where));
  });
  if (!NeedsGradient({x})) return out;
  const auto backward = [type = x.dtype(), tokens, pooling, where](const Tensor& grad) {
    const ProfileScope backward_scope("Pool backward",
                                      RowsWork(tokens.tokens(), grad.size(1), 1, type));
    const Tensor grad_x = Empty({tokens.tokens(), grad.size(1)}, type);
    ForType(grad_x, [&](auto zero) {
      using A = decltype(zero);
      PoolBackward<A>(pooling, grad.data_ptr<float>(), PooledTextsOf(tokens, grad.size(1)),
                      Data<int32_t>(where), Data<A>(grad_x));
    });
    return std::vector<Tensor>{grad_x};
  };
  return WithBackward("Pool", out, {x}, backward);
}

}  // namespace tandem::tensor
