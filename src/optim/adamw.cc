// AdamW.
//
//   m <- b1 m + (1 - b1) g            v <- b2 v + (1 - b2) g^2
//   w <- (1 - rate * decay) w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
//
// g = gradient of the step, b1 = `beta1`, b2 = `beta2`, t = steps so far, this one included.
// Source: Loshchilov and Hutter 2019, as torch.optim.AdamW computes it: the decay is multiplied by
// the learning rate, and epsilon is added behind the bias correction. All in float32, one pass over
// each piece of memory.
#include <ATen/Parallel.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "optim/catalogue.h"
#include "optim/chunks.h"

namespace tandem::optim {
namespace {

struct Coefficients {
  float gradient_scale;
  float keep;  // what decay leaves of a weight
  float beta1, rest1;
  float beta2, rest2;
  float step_size;     // learning rate over the first moment's bias correction
  float inverse_root;  // 1 / root of the second moment's bias correction
  float epsilon;
};

void Update(float* __restrict__ weights, const float* __restrict__ gradients,
            float* __restrict__ first, float* __restrict__ second, int64_t count,
            const Coefficients& c) {
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] * c.gradient_scale;
    const float m = first[i] * c.beta1 + gradient * c.rest1;
    const float v = second[i] * c.beta2 + gradient * gradient * c.rest2;
    first[i] = m;
    second[i] = v;
    const float root = std::sqrt(v) * c.inverse_root + c.epsilon;
    weights[i] = weights[i] * c.keep - c.step_size * (m / root);
  }
}

class AdamW final : public Optimizer {
 public:
  AdamW(std::vector<model::NamedParameter> parameters, const OptimizerOptions& options)
      : parameters_(std::move(parameters)), options_(options) {
    std::vector<int64_t> elements;
    for (const model::NamedParameter& parameter : parameters_) {
      const at::Tensor& value = parameter.value;
      if (value.scalar_type() != at::kFloat || !value.is_contiguous()) {
        throw std::invalid_argument(
            fmt::format("parameter {} is not contiguous float32", parameter.name));
      }
      first_.push_back(at::zeros_like(value.detach()));
      second_.push_back(at::zeros_like(value.detach()));
      elements.push_back(value.numel());
    }
    chunks_ = MakeChunks(elements);
  }

  void Step(double learning_rate, double gradient_scale) override {
    ++steps_;
    std::vector<at::Tensor> gradients;
    for (const model::NamedParameter& parameter : parameters_) {
      const at::Tensor& gradient = parameter.value.grad();
      gradients.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    }
    const Coefficients decayed = CoefficientsOf(learning_rate, gradient_scale, true);
    const Coefficients plain = CoefficientsOf(learning_rate, gradient_scale, false);
    at::parallel_for(0, static_cast<int64_t>(chunks_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const size_t t = chunks_[c].tensor;
        if (!gradients[t].defined()) continue;
        UpdateChunk(chunks_[c], gradients[t], parameters_[t].decay ? decayed : plain);
      }
    });
    for (const model::NamedParameter& parameter : parameters_) {
      parameter.value.unsafeGetTensorImpl()->bump_version();  // written behind libtorch's back
    }
  }

  std::vector<StateTensor> State() const override {
    std::vector<StateTensor> state;
    for (size_t t = 0; t < parameters_.size(); ++t) {
      state.push_back({"first_moment/" + parameters_[t].name, first_[t]});
      state.push_back({"second_moment/" + parameters_[t].name, second_[t]});
    }
    return state;
  }

  int64_t steps() const override { return steps_; }
  void set_steps(int64_t steps) override { steps_ = steps; }

 private:
  Coefficients CoefficientsOf(double learning_rate, double gradient_scale, bool decay) const {
    const auto t = static_cast<double>(steps_);
    const double correction1 = 1 - std::pow(options_.beta1, t);
    const double correction2 = 1 - std::pow(options_.beta2, t);
    const double keep = 1 - (decay ? learning_rate * options_.weight_decay : 0);
    return {.gradient_scale = static_cast<float>(gradient_scale),
            .keep = static_cast<float>(keep),
            .beta1 = static_cast<float>(options_.beta1),
            .rest1 = static_cast<float>(1 - options_.beta1),
            .beta2 = static_cast<float>(options_.beta2),
            .rest2 = static_cast<float>(1 - options_.beta2),
            .step_size = static_cast<float>(learning_rate / correction1),
            .inverse_root = static_cast<float>(1 / std::sqrt(correction2)),
            .epsilon = static_cast<float>(options_.epsilon)};
  }

  void UpdateChunk(const Chunk& chunk, const at::Tensor& gradient, const Coefficients& c) const {
    const auto at = [&chunk](const at::Tensor& tensor) {
      return static_cast<float*>(tensor.data_ptr()) + chunk.begin;
    };
    const size_t t = chunk.tensor;
    Update(at(parameters_[t].value), at(gradient), at(first_[t]), at(second_[t]),
           chunk.end - chunk.begin, c);
  }

  std::vector<model::NamedParameter> parameters_;
  OptimizerOptions options_;
  std::vector<at::Tensor> first_;  // moments, beside parameters_
  std::vector<at::Tensor> second_;
  std::vector<Chunk> chunks_;
  int64_t steps_ = 0;
};

std::unique_ptr<Optimizer> MakeAdamW(std::vector<model::NamedParameter> parameters,
                                     const OptimizerOptions& options) {
  return std::make_unique<AdamW>(std::move(parameters), options);
}

}  // namespace

const OptimizerInfo kAdamW{{.name = "adamw",
                            .summary = "Adam with decoupled weight decay",
                            .source = "Loshchilov and Hutter 2019, as torch.optim.AdamW",
                            .params = {}},
                           MakeAdamW};

}  // namespace tandem::optim
