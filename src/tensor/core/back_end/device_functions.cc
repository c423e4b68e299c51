#include "tensor/core/back_end/device_functions.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "tensor/core/back_end/missing_back_end.h"

namespace tandem::tensor {
namespace {

std::atomic<const DeviceFunctions*> current = nullptr;

// The loader, and a lock that one thread at a time loads under.
struct Loading {
  std::mutex mutex;
  std::function<void()> loader;
};

Loading& TheLoading() {
  static auto* loading = new Loading;  // programs set it before main begins, and never end it
  return *loading;
}

}  // namespace

const DeviceFunctions& BackEndFunctions() {
  LoadBackEnd();
  return *current.load(std::memory_order_acquire);
}

void SetBackEndFunctions(const DeviceFunctions& functions) {
  current.store(&functions, std::memory_order_release);
}

const DeviceFunctions* LoadedBackEndFunctions() { return current.load(std::memory_order_acquire); }

void SetBackEndLoader(std::function<void()> loader) {
  const std::lock_guard lock(TheLoading().mutex);
  TheLoading().loader = std::move(loader);
}

void LoadBackEnd() {
  if (LoadedBackEndFunctions() != nullptr) return;
  Loading& loading = TheLoading();
  const std::lock_guard lock(loading.mutex);
  if (LoadedBackEndFunctions() != nullptr) return;  // by another thread meanwhile
  if (!loading.loader) {
    throw MissingBackEnd(
        "this needs Tandem's back end for devices, the plug-in libtandem-torch.so, which is not "
        "there",
        "the plug-in libtandem-torch.so is not there");
  }
  loading.loader();
  if (LoadedBackEndFunctions() == nullptr) {
    throw std::logic_error("the loader of the back end has set no functions of devices");
  }
}

}  // namespace tandem::tensor
