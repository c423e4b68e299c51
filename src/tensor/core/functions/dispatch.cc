#include "tensor/core/functions/dispatch.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tandem::tensor::internal {
namespace {

// The place of the tensors so far.
class Place {
 public:
  explicit Place(const char* function) : function_(function) {}

  void Add(const Tensor& tensor) {
    if (!tensor.defined()) return;
    if (first_ == nullptr) first_ = &tensor;
    if (tensor.device() == first_->device()) return;
    throw std::logic_error(fmt::format("{}: expected tensors of one device, found {} and {}",
                                       function_, first_->Text(), tensor.Text()));
  }
  const DeviceFunctions* functions() const {
    return first_ == nullptr || first_->is_cpu() ? nullptr : &BackEndFunctions();
  }

 private:
  const char* function_;
  const Tensor* first_ = nullptr;
};

}  // namespace

const DeviceFunctions* FunctionsFor(const char* function,
                                    std::initializer_list<const Tensor*> tensors) {
  Place place(function);
  for (const Tensor* tensor : tensors) place.Add(*tensor);
  return place.functions();
}

const DeviceFunctions* FunctionsFor(const char* function, std::span<const Tensor> tensors) {
  Place place(function);
  for (const Tensor& tensor : tensors) place.Add(tensor);
  return place.functions();
}

}  // namespace tandem::tensor::internal
