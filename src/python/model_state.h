// A model that Python holds, with the lock that its users share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

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
  std::atomic<std::thread::id> owner;  // of the mutex
};

using SharedModel = std::shared_ptr<ModelState>;

// The model while one thread has it.
class ModelLock {
 public:
  // Waits for the model without the GIL, and is interrupted meanwhile. Throws UsageError where the
  // calling thread has it already: code of Python that runs while it encodes (a signal handler, a
  // handler of logging) would wait for itself.
  ModelLock(ModelState& state, const StopRequest& stop);
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;
  ~ModelLock();

 private:
  ModelState& state_;
};

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
