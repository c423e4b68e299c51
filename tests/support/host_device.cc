#include "support/host_device.h"

#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/functions/activations.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/ops.h"

namespace tandem {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

std::atomic<int64_t> copies_from_there = 0;

// The same memory as the processor's, without history.
Tensor Here(const Tensor& x) {
  if (!x.defined() || x.is_cpu()) return x;
  return tensor::FromBlob(x.data_ptr(), x.sizes(), x.dtype(),
                          std::make_shared<const Tensor>(x.detach()));
}

// The same memory as the device's, without history.
Tensor There(const Tensor& x) {
  if (!x.defined()) return x;
  return tensor::FromDevice(x.data_ptr(), x.sizes(), x.dtype(), kHostDevice,
                            std::make_shared<const Tensor>(x.detach()));
}

// The arguments of an operation as the processor's. Tensors that want gradients become leaves.
class Arguments {
 public:
  Tensor operator()(const Tensor& x) {
    if (!x.defined()) return x;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].is_same(x)) return leaves_[i];
    }
    inputs_.push_back(x);
    leaves_.push_back(Here(x).detach());
    if (x.requires_grad()) leaves_.back().set_requires_grad(true);
    return leaves_.back();
  }
  std::vector<Tensor> operator()(std::span<const Tensor> tensors) {
    std::vector<Tensor> here;
    for (const Tensor& x : tensors) here.push_back((*this)(x));
    return here;
  }
  tensor::PackedTokens operator()(tensor::PackedTokens tokens) {
    for (Tensor* part :
         {&tokens.ids, &tokens.positions, &tokens.types, &tokens.sequence_starts, &tokens.text_keys,
          &tokens.row_keys, &tokens.prompt_tokens, &tokens.stand_ins}) {
      *part = (*this)(*part);
    }
    return tokens;
  }
  tensor::EmbeddingTables operator()(const tensor::EmbeddingTables& tables) {
    return {(*this)(tables.word), (*this)(tables.position), (*this)(tables.type),
            tables.position_offset};
  }
  tensor::LayerNorm operator()(const tensor::LayerNorm& norm) {
    return {(*this)(norm.gamma), (*this)(norm.beta), norm.epsilon};
  }
  tensor::Norm operator()(const tensor::Norm& norm) {
    return {norm.kind, (*this)(norm.gamma), (*this)(norm.beta), norm.epsilon};
  }
  tensor::Linear operator()(const tensor::Linear& linear) {
    if (linear.low_rank() != nullptr) throw std::logic_error("an adapter on the host device");
    return {(*this)(std::span<const Tensor>(linear.weights())),
            (*this)(std::span<const Tensor>(linear.biases()))};
  }
  tensor::FeedForward operator()(const tensor::FeedForward& layer) {
    return {(*this)(layer.norm), (*this)(layer.up), (*this)(layer.down),
            layer.activation,    layer.gated,       (*this)(layer.out_norm)};
  }
  tensor::Rotary operator()(const tensor::Rotary& rotary) {
    return {(*this)(rotary.cosines), (*this)(rotary.sines)};
  }
  tensor::RelativeBias operator()(const tensor::RelativeBias& bias) {
    return {(*this)(bias.table), bias.max_distance};
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }
  std::vector<Tensor> Gradients() const {
    std::vector<Tensor> gradients;
    for (const Tensor& leaf : leaves_) {
      const tensor::SparseRows* rows = leaf.row_grad();
      gradients.push_back(
          There(rows != nullptr ? tensor::Dense(*rows, leaf.sizes()) : leaf.grad()));
    }
    return gradients;
  }

 private:
  std::vector<Tensor> inputs_;
  std::vector<Tensor> leaves_;
};

// compute(arguments) as one operation of the device.
template <typename Compute>
Tensor Run(const char* name, const Compute& compute) {
  const tensor::UseReferenceOps reference;
  const auto arguments = std::make_shared<Arguments>();
  const Tensor out = compute(*arguments);
  if (!out.requires_grad()) return There(out);
  return tensor::WithBackward(name, There(out), arguments->inputs(),
                              [arguments, out](const Tensor& grad) {
                                out.backward(Here(grad));
                                return arguments->Gradients();
                              });
}

class Functions final : public tensor::DeviceFunctions {
 public:
  Tensor Empty(const Shape& shape, DType type, tensor::Device device) const override {
    if (device != kHostDevice) throw std::logic_error("there is one host device");
    return There(tensor::Empty(shape, type));
  }
  void Copy(const Tensor& from, const Tensor& to) const override {
    if (!from.is_cpu() && to.is_cpu()) ++copies_from_there;
    Here(to).copy_(Here(from));
  }
  void Fill(const Tensor& x, double value) const override { Here(x).fill_(value); }
  void AddTo(const Tensor& x, const Tensor& other) const override { Here(x).add_(Here(other)); }
  void Scale(const Tensor& x, double factor) const override { Here(x).mul_(factor); }

  Tensor Cat(std::span<const Tensor> tensors, int64_t dimension) const override {
    return Run("Cat", [&](Arguments& on) { return tensor::Cat(on(tensors), dimension); });
  }
  Tensor Columns(const Tensor& x, int64_t start, int64_t length) const override {
    return Run("Columns", [&](Arguments& on) { return tensor::Columns(on(x), start, length); });
  }
  Tensor TakeRows(const Tensor& x, const Tensor& rows) const override {
    return Run("TakeRows", [&](Arguments& on) { return tensor::TakeRows(on(x), on(rows)); });
  }
  Tensor ClearRows(const Tensor& x, const Tensor& cleared) const override {
    return Run("ClearRows", [&](Arguments& on) { return tensor::ClearRows(on(x), on(cleared)); });
  }
  Tensor Add(const Tensor& a, const Tensor& b) const override {
    return Run("Add", [&](Arguments& on) { return tensor::Add(on(a), on(b)); });
  }
  Tensor Mul(const Tensor& a, const Tensor& b) const override {
    return Run("Mul", [&](Arguments& on) { return tensor::Mul(on(a), on(b)); });
  }
  Tensor Mul(const Tensor& a, double factor) const override {
    return Run("Mul", [&](Arguments& on) { return tensor::Mul(on(a), factor); });
  }
  Tensor AddToRows(const Tensor& x, const Tensor& row) const override {
    return Run("AddToRows", [&](Arguments& on) { return tensor::AddToRows(on(x), on(row)); });
  }
  Tensor Sum(const Tensor& x) const override {
    return Run("Sum", [&](Arguments& on) { return tensor::Sum(on(x)); });
  }
  Tensor Product(const Tensor& a, const Tensor& b) const override {
    return Run("Product", [&](Arguments& on) { return tensor::Product(on(a), on(b)); });
  }
  Tensor ProductTransposed(const Tensor& a, const Tensor& b) const override {
    return Run("ProductTransposed",
               [&](Arguments& on) { return tensor::ProductTransposed(on(a), on(b)); });
  }
  Tensor TransposedProduct(const Tensor& a, const Tensor& b) const override {
    return Run("TransposedProduct",
               [&](Arguments& on) { return tensor::TransposedProduct(on(a), on(b)); });
  }
  Tensor UnitRows(const Tensor& x, double least) const override {
    return Run("UnitRows", [&](Arguments& on) { return tensor::UnitRows(on(x), least); });
  }
  Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                       double epsilon) const override {
    return Run("LayerNormRows", [&](Arguments& on) {
      return tensor::LayerNormRows(on(x), on(gamma), on(beta), epsilon);
    });
  }
  Tensor Apply(tensor::ElementFunction function, const Tensor& x) const override {
    return Run("Apply", [&](Arguments& on) {
      switch (function) {
        case tensor::ElementFunction::kTanh:
          return tensor::Tanh(on(x));
        case tensor::ElementFunction::kSigmoid:
          return tensor::Sigmoid(on(x));
        case tensor::ElementFunction::kRelu:
          return tensor::Relu(on(x));
        case tensor::ElementFunction::kSilu:
          return tensor::Silu(on(x));
        case tensor::ElementFunction::kGelu:
          return tensor::Gelu(on(x));
        case tensor::ElementFunction::kGeluTanh:
          return tensor::GeluTanh(on(x));
      }
      throw std::logic_error("a function without a name");
    });
  }

  tensor::SparseRows SumByRow(const Tensor& rows, const Tensor& values) const override {
    const tensor::SparseRows sums = tensor::SumByRow(Here(rows), Here(values));
    return {There(sums.rows), There(sums.values)};
  }
  Tensor Dense(const tensor::SparseRows& gradient, const Shape& sizes) const override {
    return There(tensor::Dense({Here(gradient.rows), Here(gradient.values)}, sizes));
  }
};

class Operations final : public tensor::DeviceOperations {
 public:
  Tensor EmbeddingNorm(const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables,
                       const tensor::LayerNorm& norm, const tensor::Dropout& dropout,
                       DType activation) const override {
    return Run("EmbeddingNorm", [&](Arguments& on) {
      return tensor::EmbeddingNorm(on(tokens), on(tables), on(norm), dropout, activation);
    });
  }
  Tensor Embed(const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables,
               double scale, const tensor::Dropout& dropout, DType activation) const override {
    return Run("Embed", [&](Arguments& on) {
      return tensor::Embed(on(tokens), on(tables), scale, dropout, activation);
    });
  }
  Tensor Affine(const Tensor& x, const tensor::Linear& linear) const override {
    return Run("Affine", [&](Arguments& on) { return tensor::Affine(on(x), on(linear)).out; });
  }
  Tensor AffineNorm(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                    const tensor::LayerNorm& norm, const tensor::PackedTokens& tokens,
                    const tensor::Dropout& dropout) const override {
    return Run("AffineNorm", [&](Arguments& on) {
      return tensor::AffineNorm(on(x), on(residual), on(linear), on(norm), on(tokens), dropout);
    });
  }
  Tensor FeedForwardNorm(const Tensor& x, const tensor::Linear& up, const tensor::Linear& down,
                         tensor::Activation activation, const tensor::LayerNorm& norm,
                         const tensor::PackedTokens& tokens,
                         const tensor::Dropout& dropout) const override {
    return Run("FeedForwardNorm", [&](Arguments& on) {
      return tensor::FeedForwardNorm(on(x), on(up), on(down), activation, on(norm), on(tokens),
                                     dropout);
    });
  }
  Tensor Normalize(const Tensor& x, const tensor::Norm& norm, const tensor::PackedTokens& tokens,
                   const tensor::Dropout& dropout) const override {
    return Run("Normalize", [&](Arguments& on) {
      return tensor::Normalize(on(x), on(norm), on(tokens), dropout);
    });
  }
  Tensor NormAffine(const Tensor& x, const tensor::Norm& norm,
                    const tensor::Linear& linear) const override {
    return Run("NormAffine",
               [&](Arguments& on) { return tensor::NormAffine(on(x), on(norm), on(linear)).out; });
  }
  Tensor AffineAdd(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                   const tensor::Norm& out_norm, const tensor::PackedTokens& tokens,
                   const tensor::Dropout& dropout) const override {
    return Run("AffineAdd", [&](Arguments& on) {
      return tensor::AffineAdd(on(x), on(residual), on(linear), on(out_norm), on(tokens), dropout);
    });
  }
  Tensor FeedForwardAdd(const Tensor& x, const tensor::FeedForward& layer,
                        const tensor::PackedTokens& tokens, const tensor::Dropout& inner_dropout,
                        const tensor::Dropout& dropout) const override {
    return Run("FeedForwardAdd", [&](Arguments& on) {
      return tensor::FeedForwardAdd(on(x), on(layer), on(tokens), inner_dropout, dropout);
    });
  }
  Tensor RotateHeads(const Tensor& qkv, const tensor::PackedTokens& tokens,
                     const tensor::HeadShape& shape, const tensor::Norm& query_norm,
                     const tensor::Norm& key_norm, const tensor::Rotary& rotary) const override {
    return Run("RotateHeads", [&](Arguments& on) {
      return tensor::RotateHeads(on(qkv), on(tokens), shape, on(query_norm), on(key_norm),
                                 on(rotary));
    });
  }
  Tensor Attention(const Tensor& qkv, const tensor::PackedTokens& tokens,
                   const tensor::HeadShape& shape, const tensor::AttentionRule& rule,
                   const tensor::RelativeBias& bias,
                   const tensor::Dropout& dropout) const override {
    return Run("Attention", [&](Arguments& on) {
      return tensor::Attention(on(qkv), on(tokens), shape, rule, on(bias), dropout);
    });
  }
  Tensor Pool(const Tensor& x, const tensor::PackedTokens& tokens,
              tensor::Pooling pooling) const override {
    return Run("Pool", [&](Arguments& on) { return tensor::Pool(on(x), on(tokens), pooling); });
  }
  Tensor NormalizeRows(const Tensor& x) const override {
    return Run("NormalizeRows", [&](Arguments& on) { return tensor::NormalizeRows(on(x)); });
  }
};

}  // namespace

int64_t CopiesFromHostDevice() { return copies_from_there; }

void UseHostDevice() {
  static const Functions functions;
  static const Operations operations;
  tensor::SetBackEndOperations(operations);
  tensor::SetBackEndFunctions(functions);
}

}  // namespace tandem
