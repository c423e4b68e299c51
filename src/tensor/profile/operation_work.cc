#include "tensor/profile/operation_work.h"

#include "tensor/backward_state.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {
namespace {

bool Off() { return Profile::Active() == nullptr; }

Work operator+(const Work& a, const Work& b) { return {a.flops + b.flops, a.bytes + b.bytes}; }

double BytesOf(DType type) { return static_cast<double>(ElementSize(type)); }

// The products of one affine map, and reading its weights once. Callers add the activations. A
// backward pass has a product for the gradient of x, and one for that of the weights where any
// wants one.
Work MapWork(const Tensor& x, const Linear& linear, Pass pass) {
  const auto rows = static_cast<double>(x.size(0));
  const double weights = static_cast<double>(linear.in()) * static_cast<double>(linear.out());
  const bool forward = pass == Pass::kForward;
  Profile::Active()->AddProduct(forward ? ProductShape{linear.in(), linear.out()}
                                        : ProductShape{linear.out(), linear.in()});
  const bool sums = !forward && linear.WantsWeightGradient();
  return {.flops = (sums ? 4 : 2) * rows * weights,
          .bytes = weights * (BytesOf(x.dtype()) + (sums ? 4 : 0))};
}

}  // namespace

Work RowsWork(int64_t rows, int64_t width, double arrays, DType activation) {
  if (Off()) return {};
  return {.bytes = static_cast<double>(rows * width) * arrays * BytesOf(activation)};
}

Work AffineWork(const Tensor& x, const Linear& linear, Pass pass) {
  if (Off()) return {};
  const int64_t rows = x.size(0);
  const double x_arrays = pass == Pass::kForward ? 1 : 2;  // x, and in a backward pass its gradient
  return MapWork(x, linear, pass) + RowsWork(rows, linear.in(), x_arrays, x.dtype()) +
         RowsWork(rows, linear.out(), 1, x.dtype());
}

Work AffineNormWork(const Tensor& x, const Linear& linear, Pass pass) {
  if (Off()) return {};
  // Forward: the residual and the normalised rows. Backward: the normalised rows and the residual's
  // gradient.
  return AffineWork(x, linear, pass) + RowsWork(x.size(0), linear.out(), 2, x.dtype());
}

Work FeedForwardWork(const Tensor& x, const Linear& up, const Linear& down, Pass pass) {
  if (Off()) return {};
  // Forward: x, the normalised rows and the output. Backward: x, the normalised rows, and the
  // gradients of the output and of x. Both: the rows before the GELU.
  const double arrays = pass == Pass::kForward ? 3 : 4;
  return MapWork(x, up, pass) + MapWork(x, down, pass) +
         RowsWork(x.size(0), up.in(), arrays, x.dtype()) +
         RowsWork(x.size(0), up.out(), 1, x.dtype());
}

Work AffineAddWork(const Tensor& x, const Linear& linear, Pass pass) {
  if (Off()) return {};
  // Forward: the residual. The backward pass reads and writes nothing besides.
  const double arrays = pass == Pass::kForward ? 1 : 0;
  return AffineWork(x, linear, pass) + RowsWork(x.size(0), linear.out(), arrays, x.dtype());
}

Work FeedForwardAddWork(const Tensor& x, const Linear& up, const Linear& down, Pass pass) {
  if (Off()) return {};
  // Forward: x and the output. Backward: x, and the gradients of the output and of x. Both: the
  // rows before the activation.
  const double arrays = pass == Pass::kForward ? 2 : 3;
  return MapWork(x, up, pass) + MapWork(x, down, pass) +
         RowsWork(x.size(0), up.in(), arrays, x.dtype()) +
         RowsWork(x.size(0), up.out(), 1, x.dtype());
}

cpu::AttentionMask MaskOf(const AttentionRule& rule) {
  return {.causal = rule.causal, .window = static_cast<size_t>(rule.window)};
}

Work AttentionWork(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const AttentionRule& rule, Pass pass) {
  if (Off()) return {};
  const cpu::AttentionMask mask = MaskOf(rule);
  const Tensor bounds = tokens.HostStarts();
  const auto* starts = bounds.data_ptr<int32_t>();
  double pairs = 0;
  for (int64_t text = 0; text < tokens.texts(); ++text) {
    const auto length = static_cast<size_t>(starts[text + 1] - starts[text]);
    for (size_t query = 0; query < length; ++query) {
      pairs += static_cast<double>(mask.KeysOf(query, length).size());
    }
  }
  const bool forward = pass == Pass::kForward;
  Work work =
      RowsWork(qkv.size(0), shape.qkv_width() + shape.out_width(), forward ? 1 : 2, qkv.dtype());
  work.flops = (forward ? 2 : 5) * 2 * pairs * static_cast<double>(shape.out_width());
  return work;
}

}  // namespace tandem::tensor
