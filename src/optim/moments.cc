#include "optim/moments.h"

#include <cmath>
#include <utility>

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

class MomentRule final : public UpdateRule {
 public:
  MomentRule(std::vector<ParameterView> parameters, const MomentOptions& options)
      : parameters_(std::move(parameters)), options_(options) {
    std::vector<int64_t> elements;
    for (const ParameterView& parameter : parameters_) {
      elements.push_back(ElementsOf(parameter.shape));
      first_.emplace_back(elements.back());
      second_.emplace_back(elements.back());
    }
    chunks_ = MakeChunks(elements);
  }

  void Step(const StepPoint& point, std::span<const float* const> gradients,
            const ParallelLoop& parallel) override {
    const Coefficients decayed = CoefficientsOf(point, options_.weight_decay);
    const Coefficients plain = CoefficientsOf(point, 0);
    parallel(static_cast<int64_t>(chunks_.size()), [&](int64_t c) {
      const Chunk& chunk = chunks_[c];
      const size_t t = chunk.tensor;
      if (gradients[t] == nullptr) return;
      Update(parameters_[t].values + chunk.begin, gradients[t] + chunk.begin,
             first_[t].data() + chunk.begin, second_[t].data() + chunk.begin,
             chunk.end - chunk.begin, parameters_[t].decay ? decayed : plain);
    });
  }

  std::vector<StateArray> State() override {
    std::vector<StateArray> state;
    for (size_t t = 0; t < parameters_.size(); ++t) {
      const ParameterView& parameter = parameters_[t];
      state.push_back({"first_moment/" + parameter.name, parameter.shape, first_[t].data()});
      state.push_back({"second_moment/" + parameter.name, parameter.shape, second_[t].data()});
    }
    return state;
  }

 private:
  Coefficients CoefficientsOf(const StepPoint& point, double weight_decay) const {
    const auto t = static_cast<double>(point.step);
    const double correction1 = 1 - std::pow(options_.beta1, t);
    const double correction2 = 1 - std::pow(options_.beta2, t);
    return {.gradient_scale = static_cast<float>(point.gradient_scale),
            .keep = static_cast<float>(1 - point.learning_rate * weight_decay),
            .beta1 = static_cast<float>(options_.beta1),
            .rest1 = static_cast<float>(1 - options_.beta1),
            .beta2 = static_cast<float>(options_.beta2),
            .rest2 = static_cast<float>(1 - options_.beta2),
            .step_size = static_cast<float>(point.learning_rate / correction1),
            .inverse_root = static_cast<float>(1 / std::sqrt(correction2)),
            .epsilon = static_cast<float>(options_.epsilon)};
  }

  std::vector<ParameterView> parameters_;
  MomentOptions options_;
  std::vector<std::vector<float>> first_;  // moments, beside parameters_
  std::vector<std::vector<float>> second_;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::unique_ptr<UpdateRule> MakeMomentRule(std::vector<ParameterView> parameters,
                                           const MomentOptions& options) {
  return std::make_unique<MomentRule>(std::move(parameters), options);
}

}  // namespace tandem::optim
