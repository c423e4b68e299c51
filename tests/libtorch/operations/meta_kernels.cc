// Shapes of the results of operations that libtorch computes on the device `meta` only through
// Python. There they have no memory, so that an operation that reads any fails.
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tandem::libtorch {
namespace {

using OptionalTensor = c10::optional<at::Tensor>;

at::Tensor Like(const at::Tensor& x, at::IntArrayRef sizes) {
  return at::empty(sizes, x.options());
}

at::Tensor IndexSelect(const at::Tensor& x, int64_t dim, const at::Tensor& index) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[static_cast<size_t>(dim < 0 ? dim + x.dim() : dim)] = index.numel();
  return Like(x, sizes);
}

at::Tensor OfEachNumber(const at::Tensor& x) { return Like(x, x.sizes()); }

at::Tensor Where(const at::Tensor& condition, const at::Tensor& x, const at::Tensor& other) {
  return Like(x, at::infer_size(condition.sizes(), at::infer_size(x.sizes(), other.sizes())));
}

at::Tensor Flip(const at::Tensor& x, at::IntArrayRef) { return Like(x, x.sizes()); }

std::tuple<at::Tensor, at::Tensor, at::Tensor> MetaLayerNorm(const at::Tensor& x,
                                                             at::IntArrayRef shape,
                                                             const OptionalTensor&,
                                                             const OptionalTensor&, double) {
  std::vector<int64_t> rows = x.sizes().vec();
  for (size_t i = 0; i < shape.size(); ++i) rows[rows.size() - 1 - i] = 1;
  return {Like(x, x.sizes()), Like(x, rows), Like(x, rows)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> LayerNormBackward(
    const at::Tensor&, const at::Tensor& x, at::IntArrayRef shape, const at::Tensor&,
    const at::Tensor&, const OptionalTensor&, const OptionalTensor&, std::array<bool, 3> wanted) {
  const auto of = [&](bool defined, at::IntArrayRef sizes) {
    return defined ? Like(x, sizes) : at::Tensor();
  };
  return {of(wanted[0], x.sizes()), of(wanted[1], shape), of(wanted[2], shape)};
}

at::Tensor EmbeddingBackward(const at::Tensor& grad, const at::Tensor&, int64_t rows, int64_t,
                             bool) {
  return Like(grad, {rows, grad.size(-1)});
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("index_select", &IndexSelect);
  library.impl("abs", &OfEachNumber);
  library.impl("relu", &OfEachNumber);
  library.impl("where.self", &Where);
  library.impl("flip", &Flip);
  library.impl("native_layer_norm", &MetaLayerNorm);
  library.impl("native_layer_norm_backward", &LayerNormBackward);
  library.impl("embedding_dense_backward", &EmbeddingBackward);
}

}  // namespace
}  // namespace tandem::libtorch
