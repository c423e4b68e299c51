// Rules by which optimizers change weights, on plain arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem::optim {

// One parameter as a rule sees it; its memory is the owner's and outlives the rule.
struct ParameterView {
  std::string name;
  std::vector<int64_t> shape;  // empty: one number
  float* values = nullptr;     // contiguous, the last dimension fastest
  bool decay = true;           // whether weight decay applies
};

// The gradient of one parameter.
struct GradientView {
  const float* values = nullptr;  // contiguous
  // Where it is set, `values` holds only these rows of the parameter, in increasing order, and the
  // gradient of all other rows is zero. A row belongs to one index of the first dimension.
  std::optional<std::span<const int64_t>> rows = std::nullopt;

  // Says whether there is a gradient. A gradient of no rows has no values and is one all the same.
  bool defined() const { return values != nullptr || rows.has_value(); }
};

// An array that a rule keeps between steps; shares its memory.
struct StateArray {
  std::string name;  // "first_moment/PARAMETER"
  std::vector<int64_t> shape;
  float* values = nullptr;
};

struct StepPoint {
  int64_t step = 1;  // from 1
  double learning_rate = 0;
  double gradient_scale = 1;  // multiplies the gradients
};

// Calls body(i) for every i in [0, count), in any order, on any number of threads. What a rule
// computes must not depend on either.
using ParallelLoop =
    std::function<void(int64_t count, const std::function<void(int64_t index)>& body)>;

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  // Says whether Step takes gradients that have `rows`.
  virtual bool TakesRows() const { return false; }

  // Makes one update. `gradients[i]` belongs to parameter i. A parameter without a gradient keeps
  // its values and its state.
  virtual void Step(const StepPoint& point, std::span<const GradientView> gradients,
                    const ParallelLoop& parallel) = 0;

  // Everything besides the parameters and StepPoint that the next step depends on. The caller may
  // read the arrays, or overwrite them before the next Step.
  virtual std::vector<StateArray> State() = 0;
};

// The number of elements; 1 for an empty shape.
inline int64_t ElementsOf(std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  return elements;
}

}  // namespace tandem::optim
