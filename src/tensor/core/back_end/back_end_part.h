// A part of what a back end gives. The room that asks for it keeps one; the back end sets it when
// it is loaded.
#pragma once

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/core/back_end/device_functions.h"

namespace tandem::tensor {

// T is copied: a pointer to what lives as long as the process, a span, a function. Thread-safe.
template <typename T>
class BackEndPart {
 public:
  // `name` completes "the back end has no", and lives as long as this.
  explicit constexpr BackEndPart(const char* name) : name_(name) {}

  void Set(T part) {
    const std::lock_guard lock(mutex_);
    part_ = std::move(part);
  }
  // The part, if it is set. Loads nothing.
  std::optional<T> Loaded() const {
    const std::lock_guard lock(mutex_);
    return part_;
  }
  // The part, after the back end was loaded where it is not set. Throws UsageError where that
  // cannot be loaded, std::logic_error where it does not set the part.
  T Get() const {
    if (std::optional<T> part = Loaded()) return *part;
    LoadBackEnd();
    if (std::optional<T> part = Loaded()) return *part;
    throw std::logic_error(std::string("the back end has no ") + name_);
  }

 private:
  const char* name_;
  mutable std::mutex mutex_;
  std::optional<T> part_;
};

}  // namespace tandem::tensor
