// Adds up the gradients that the processes of a group have of the same parameters, while the
// backward pass that makes them goes on.
//
// Dense gradients travel in buckets: a bucket is on its way as soon as the backward pass has
// finished all of its gradients and the buckets before it are under way, so that every process
// sends the same buckets in the same order. Row-sparse gradients of tables
// (tensor/core/gradients/sparse_rows.h) travel as rows once the pass has ended: the rows that any
// process has, nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dist/process_group.h"
#include "model/forward.h"

namespace tandem::dist {

// Says how numbers travel.
enum class ReduceType {
  kFp32,
  // Half the bytes: each process rounds its gradients to bf16, they are added up in float, and the
  // sum is rounded to bf16 once more.
  kBf16,
};

struct ReducerOptions {
  int64_t bucket_bytes = int64_t{4} << 20;
  ReduceType type = ReduceType::kFp32;
};

class GradientReducer {
 public:
  // Takes all trained parameters, the same on every process. `group` must outlive the reducer.
  GradientReducer(ProcessGroup& group, std::vector<model::NamedParameter> parameters,
                  const ReducerOptions& options = {});
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  ~GradientReducer();

  // Must be called before the last backward pass of a step: what earlier ones have added is in the
  // gradients, and what this one finishes is sent at once.
  void BeginLastPass();
  // Called after that pass, which a process without texts has left out. Every parameter that any
  // process has a gradient of then has the sum as its gradient, and other parameters have none.
  // Gradients stay valid until the next BeginLastPass.
  void Finish();

  // Bytes that this process has sent as gradients since the last call, as a ring sends them.
  int64_t TakeBytes();

 private:
  struct State;
  std::shared_ptr<State> state_;  // the hooks' too
};

}  // namespace tandem::dist
