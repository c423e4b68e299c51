#include "tensor/kernels/cpu/products/onednn_library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace tandem::tensor::cpu {
namespace {

// It stays loaded for as long as the program runs.
void* Library() {
  static void* const library = dlopen(TANDEM_ONEDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    throw std::runtime_error(
        std::string("cannot load oneDNN, which this program was built with: ") + dlerror() +
        "; install it (Debian: libdnnl2 or libdnnl3)");
  }
  return library;
}

}  // namespace

void* FindInOneDnn(const char* name) {
  void* const function = dlsym(Library(), name);
  if (function == nullptr) {
    throw std::runtime_error(std::string(TANDEM_ONEDNN_LIBRARY) + " has no function " + name +
                             ": it is not the oneDNN that this program was built with");
  }
  return function;
}

}  // namespace tandem::tensor::cpu
