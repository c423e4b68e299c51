// A model that Python holds, with the lock that its users share.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/process/interrupt.h"
#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::python {

struct ModelState {
  std::unique_ptr<model::DualEncoder> model;
  std::string folder;
  std::optional<int64_t> dimensions;  // that it was opened with
  // One thread encodes at a time, on all threads of the machine: Prepare must not run beside
  // Encode.
  std::timed_mutex mutex;
};

using SharedModel = std::shared_ptr<ModelState>;

// Waits for the model without the GIL, and is interrupted meanwhile.
inline std::unique_lock<std::timed_mutex> LockModel(ModelState& state, const StopRequest& stop) {
  std::unique_lock lock(state.mutex, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(50))) ThrowIfStopped(stop);
  return lock;
}

// "query" or "document". Throws UsageError.
model::TextKind KindOf(const std::string& name);

// What every encoding takes; `precision` as tensor::ResolvePrecision reads it.
search::EncodeOptions EncodeOptionsOf(const std::string& precision);

// The model of a Python object of the class _tandem.Model.
class PythonModel {
 public:
  explicit PythonModel(SharedModel state) : state_(std::move(state)) {}
  const SharedModel& state() const { return state_; }
  model::DualEncoder& model() const { return *state_->model; }

 private:
  SharedModel state_;
};

}  // namespace tandem::python
