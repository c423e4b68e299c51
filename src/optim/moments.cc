#include "optim/moments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "optim/chunks.h"

namespace tandem::optim {
namespace {

void Update(float* __restrict__ weights, const float* __restrict__ gradients,
            float* __restrict__ first, float* __restrict__ second, int64_t count,
            const MomentCoefficients& c) {
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

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Floats = std::unique_ptr<float[], Free>;

// An array of zeros. The system gives memory from calloc only when it is written to. So moments of
// rows of a large vocabulary that no text uses take no memory.
Floats Zeros(int64_t count) {
  void* memory = std::calloc(static_cast<size_t>(std::max<int64_t>(count, 1)), sizeof(float));
  if (memory == nullptr) throw MemoryError(static_cast<uint64_t>(count) * sizeof(float));
  return Floats(static_cast<float*>(memory));
}

// The state of knowledge about the moments of one row of a table, whose gradient is zero in most
// steps.
enum class RowMoments : uint8_t { kUnknown, kZero, kSome };

bool AllZero(const float* values, int64_t count) {
  return std::all_of(values, values + count, [](float value) { return value == 0; });
}

class MomentRule final : public UpdateRule {
 public:
  MomentRule(std::vector<ParameterView> parameters, const MomentOptions& options)
      : options_(options) {
    std::vector<ChunkedTensor> sizes;
    for (ParameterView& parameter : parameters) {
      const int64_t elements = ElementsOf(parameter.shape);
      const bool has_rows = elements > 0 && !parameter.shape.empty();
      const int64_t row = has_rows ? elements / parameter.shape[0] : 1;
      sizes.push_back({elements, row});
      const int64_t rows = has_rows ? parameter.shape[0] : 1;
      tensors_.push_back(
          {.parameter = std::move(parameter),
           .row = row,
           .first = Zeros(elements),
           .second = Zeros(elements),
           .rows = std::vector<RowMoments>(static_cast<size_t>(rows), RowMoments::kZero)});
    }
    chunks_ = MakeChunks(sizes);
  }

  bool TakesRows() const override { return true; }

  void Step(const StepPoint& point, std::span<const GradientView> gradients,
            const ParallelLoop& parallel) override {
    const MomentCoefficients decayed = MomentCoefficientsOf(options_, point, /*decay=*/true);
    const MomentCoefficients plain = MomentCoefficientsOf(options_, point, /*decay=*/false);
    for (size_t t = 0; t < tensors_.size(); ++t) PrepareRows(gradients[t], tensors_[t]);
    parallel(static_cast<int64_t>(chunks_.size()), [&](int64_t c) {
      const Chunk& chunk = chunks_[c];
      const GradientView& gradient = gradients[chunk.tensor];
      if (!gradient.defined()) return;
      Tensor& tensor = tensors_[chunk.tensor];
      const MomentCoefficients& coefficients = tensor.parameter.decay ? decayed : plain;
      if (gradient.rows) {
        UpdateRows(chunk, gradient, coefficients, tensor);
      } else {
        UpdatePart(chunk.begin, chunk.end, gradient.values + chunk.begin, coefficients, tensor);
      }
    });
  }

  // The caller may write to the moments, so what we know of them no longer holds.
  std::vector<StateArray> State() override {
    std::vector<StateArray> state;
    for (Tensor& tensor : tensors_) {
      const ParameterView& parameter = tensor.parameter;
      state.push_back({"first_moment/" + parameter.name, parameter.shape, tensor.first.get()});
      state.push_back({"second_moment/" + parameter.name, parameter.shape, tensor.second.get()});
      tensor.rows.clear();
    }
    return state;
  }

 private:
  struct Tensor {
    ParameterView parameter;
    int64_t row;   // elements
    Floats first;  // moments
    Floats second;
    std::vector<RowMoments> rows;  // one for each row; empty where we know nothing
  };

  void PrepareRows(const GradientView& gradient, Tensor& tensor) {
    if (!gradient.defined()) return;
    if (!gradient.rows) {
      tensor.rows.clear();
      return;
    }
    tensor.rows.resize(static_cast<size_t>(tensor.parameter.shape[0]), RowMoments::kUnknown);
    if (zeros_.size() < static_cast<size_t>(tensor.row)) zeros_.resize(tensor.row);
  }

  // Updates the elements [begin, end) of a tensor from their gradients.
  static void UpdatePart(int64_t begin, int64_t end, const float* gradients,
                         const MomentCoefficients& coefficients, Tensor& tensor) {
    Update(tensor.parameter.values + begin, gradients, tensor.first.get() + begin,
           tensor.second.get() + begin, end - begin, coefficients);
  }

  // Computes the same numbers as from a whole gradient. Rows that never had a gradient have zero
  // moments and are skipped: in a large vocabulary these are most rows.
  void UpdateRows(const Chunk& chunk, const GradientView& gradient,
                  const MomentCoefficients& coefficients, Tensor& tensor) const {
    int64_t row = chunk.begin / tensor.row;
    auto next = std::lower_bound(gradient.rows->begin(), gradient.rows->end(), row);
    for (int64_t begin = chunk.begin; begin < chunk.end; begin += tensor.row, ++row) {
      const int64_t end = begin + tensor.row;
      RowMoments& known = tensor.rows[row];
      if (next != gradient.rows->end() && *next == row) {
        const int64_t index = next++ - gradient.rows->begin();
        known = RowMoments::kSome;
        UpdatePart(begin, end, gradient.values + index * tensor.row, coefficients, tensor);
        continue;
      }
      if (known == RowMoments::kUnknown) {
        const bool zero = AllZero(tensor.first.get() + begin, tensor.row) &&
                          AllZero(tensor.second.get() + begin, tensor.row);
        known = zero ? RowMoments::kZero : RowMoments::kSome;
      }
      if (known == RowMoments::kSome) {
        UpdatePart(begin, end, zeros_.data(), coefficients, tensor);
      } else if (coefficients.keep != 1) {
        float* weights = tensor.parameter.values;
        for (int64_t i = begin; i < end; ++i) weights[i] *= coefficients.keep;
      }
    }
  }

  MomentOptions options_;
  std::vector<Tensor> tensors_;
  std::vector<Chunk> chunks_;
  std::vector<float> zeros_;  // the gradient of a row that has none
};

}  // namespace

MomentOptions AdamWOptions(const config::Params& params) {
  MomentOptions options = AdamOptions(params);
  options.weight_decay = params.Number("weight_decay");
  return options;
}

MomentOptions AdamOptions(const config::Params& params) {
  return {.beta1 = params.Number("beta1"),
          .beta2 = params.Number("beta2"),
          .epsilon = params.Number("epsilon")};
}

MomentCoefficients MomentCoefficientsOf(const MomentOptions& options, const StepPoint& point,
                                        bool decay) {
  const auto t = static_cast<double>(point.step);
  const double correction1 = 1 - std::pow(options.beta1, t);
  const double correction2 = 1 - std::pow(options.beta2, t);
  const double weight_decay = decay ? options.weight_decay : 0;
  return {.gradient_scale = static_cast<float>(point.gradient_scale),
          .keep = static_cast<float>(1 - point.learning_rate * weight_decay),
          .beta1 = static_cast<float>(options.beta1),
          .rest1 = static_cast<float>(1 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .rest2 = static_cast<float>(1 - options.beta2),
          .step_size = static_cast<float>(point.learning_rate / correction1),
          .inverse_root = static_cast<float>(1 / std::sqrt(correction2)),
          .epsilon = static_cast<float>(options.epsilon)};
}

std::unique_ptr<UpdateRule> MakeMomentRule(std::vector<ParameterView> parameters,
                                           const MomentOptions& options) {
  return std::make_unique<MomentRule>(std::move(parameters), options);
}

}  // namespace tandem::optim
