#include "libtorch/device_functions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/memory_errors.h"
#include "libtorch/traced.h"

namespace tandem::libtorch {
namespace {

using Inputs = std::vector<at::Tensor>;

at::Tensor Applied(tensor::ElementFunction function, const at::Tensor& x) {
  switch (function) {
    case tensor::ElementFunction::kTanh:
      return at::tanh(x);
    case tensor::ElementFunction::kSigmoid:
      return at::sigmoid(x);
    case tensor::ElementFunction::kRelu:
      return at::relu(x);
    case tensor::ElementFunction::kSilu:
      return at::silu(x);
    case tensor::ElementFunction::kGelu:
      return at::gelu(x);
    case tensor::ElementFunction::kGeluTanh:
      return at::gelu(x, "tanh");
  }
  throw std::logic_error("a function of elements without a name");
}

// Whether the rows of x are marked, in a shape that fits x.
at::Tensor OfRows(const at::Tensor& marks, const at::Tensor& x) {
  std::vector<int64_t> sizes(static_cast<size_t>(x.dim()), 1);
  sizes[0] = marks.size(0);
  return marks.view(sizes);
}

// Calls `write`, which writes to the elements of `to`.
template <typename Write>
void Written(const tensor::Tensor& to, const Write& write) {
  const at::NoGradGuard no_gradient;
  WithMemoryErrors(write);
  to.bump_version();
}

}  // namespace

tensor::Tensor Functions::Empty(const tensor::Shape& shape, tensor::DType type,
                                tensor::Device device) const {
  const at::TensorOptions options = at::TensorOptions(TorchType(type)).device(TorchDevice(device));
  return WithMemoryErrors(
      [&] { return FromTorch(at::empty(at::IntArrayRef(shape.begin(), shape.end()), options)); });
}

void Functions::Copy(const Tensor& from, const Tensor& to) const {
  // What is read on the processor must be there; the host does not wait for a copy to a GPU.
  const bool wait = to.is_cpu();
  Written(to, [&] { AsTorch(to).copy_(AsTorch(from), /*non_blocking=*/!wait); });
}

void Functions::Fill(const Tensor& x, double value) const {
  Written(x, [&] { AsTorch(x).fill_(value); });
}

void Functions::AddTo(const Tensor& x, const Tensor& other) const {
  Written(x, [&] { AsTorch(x).add_(AsTorch(other)); });
}

void Functions::Scale(const Tensor& x, double factor) const {
  Written(x, [&] { AsTorch(x).mul_(factor); });
}

tensor::Tensor Functions::Cat(std::span<const Tensor> tensors, int64_t dimension) const {
  return Traced("Cat", tensors, [&](const Inputs& all) { return at::cat(all, dimension); });
}

tensor::Tensor Functions::Columns(const Tensor& x, int64_t start, int64_t length) const {
  return Traced("Columns", {x}, [&](const Inputs& in) {
    return in[0].narrow(1, start, length).clone(at::MemoryFormat::Contiguous);
  });
}

tensor::Tensor Functions::TakeRows(const Tensor& x, const Tensor& rows) const {
  return Traced("TakeRows", {x, rows},
                [](const Inputs& in) { return in[0].index_select(0, in[1]); });
}

tensor::Tensor Functions::ClearRows(const Tensor& x, const Tensor& cleared) const {
  return Traced("ClearRows", {x, cleared},
                [](const Inputs& in) { return in[0].masked_fill(OfRows(in[1], in[0]), 0); });
}

tensor::Tensor Functions::Add(const Tensor& a, const Tensor& b) const {
  return Traced("Add", {a, b}, [](const Inputs& in) { return in[0] + in[1]; });
}

tensor::Tensor Functions::Mul(const Tensor& a, const Tensor& b) const {
  return Traced("Mul", {a, b}, [](const Inputs& in) { return in[0] * in[1]; });
}

tensor::Tensor Functions::Mul(const Tensor& a, double factor) const {
  return Traced("Mul", {a}, [&](const Inputs& in) { return in[0] * factor; });
}

tensor::Tensor Functions::AddToRows(const Tensor& x, const Tensor& row) const {
  return Traced("AddToRows", {x, row}, [](const Inputs& in) { return in[0] + in[1]; });
}

tensor::Tensor Functions::Sum(const Tensor& x) const {
  return Traced("Sum", {x}, [](const Inputs& in) { return in[0].sum(); });
}

tensor::Tensor Functions::Product(const Tensor& a, const Tensor& b) const {
  return Traced("Product", {a, b}, [](const Inputs& in) { return at::matmul(in[0], in[1]); });
}

tensor::Tensor Functions::ProductTransposed(const Tensor& a, const Tensor& b) const {
  return Traced("ProductTransposed", {a, b},
                [](const Inputs& in) { return at::matmul(in[0], in[1].t()); });
}

tensor::Tensor Functions::TransposedProduct(const Tensor& a, const Tensor& b) const {
  return Traced("TransposedProduct", {a, b},
                [](const Inputs& in) { return at::matmul(in[0].t(), in[1]); });
}

tensor::Tensor Functions::UnitRows(const Tensor& x, double least) const {
  return Traced("UnitRows", {x}, [&](const Inputs& in) {
    const at::Tensor lengths = in[0].norm(2, 1, /*keepdim=*/true).clamp_min(least);
    if (least > 0) return in[0] / lengths;
    const at::Tensor zero = lengths.detach().eq(0);
    return (in[0] / lengths.masked_fill(zero, 1)).masked_fill(zero, 0);
  });
}

tensor::Tensor Functions::LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                        double epsilon) const {
  return Traced("LayerNormRows", {x, gamma, beta}, [&](const Inputs& in) {
    return at::layer_norm(in[0], {in[0].size(-1)}, in[1], in[2], epsilon);
  });
}

tensor::Tensor Functions::Apply(tensor::ElementFunction function, const Tensor& x) const {
  return Traced("Apply", {x}, [&](const Inputs& in) { return Applied(function, in[0]); });
}

tensor::SparseRows Functions::SumByRow(const Tensor& rows, const Tensor& values) const {
  const at::NoGradGuard no_gradient;
  return WithMemoryErrors([&]() -> tensor::SparseRows {
    const at::Tensor numbers = AsTorch(rows).to(at::kLong), all = AsTorch(values);
    // Coalescing reads the number of rows nowhere: more than any table has will do.
    constexpr int64_t kRows = std::numeric_limits<int32_t>::max();
    const at::Tensor sum =
        at::_sparse_coo_tensor_unsafe(numbers.unsqueeze(0), all, {kRows, all.size(1)}).coalesce();
    return {FromTorch(sum._indices().select(0, 0)), FromTorch(sum._values())};
  });
}

tensor::Tensor Functions::Dense(const tensor::SparseRows& gradient,
                                const tensor::Shape& sizes) const {
  const at::NoGradGuard no_gradient;
  return WithMemoryErrors([&] {
    const at::Tensor values = AsTorch(gradient.values);
    const at::Tensor whole =
        at::zeros(at::IntArrayRef(sizes.begin(), sizes.end()), values.options());
    return FromTorch(whole.index_add_(0, AsTorch(gradient.rows), values));
  });
}

}  // namespace tandem::libtorch
