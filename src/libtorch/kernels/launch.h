// Runs kernels on GPUs. Each is compiled on the machine, when it is first used there with its
// options, and kept as long as the process lives.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "libtorch/kernels/arguments.h"
#include "libtorch/kernels/sources.h"
#include "tensor/dropout.h"

namespace tandem::libtorch::kernels {

// Says whether kernels run on this device: a GPU of capability 8.0 or higher, in a build with
// TANDEM_WITH_CUDA, whose driver and whose compiler are there. Where it is such a GPU and they are
// not, that is said once in a Note. Other operations must do then what kernels would.
bool Serve(const at::Device& device);

// Turns kernels off on this thread as long as it lives, for tests of the operations that they stand
// for.
class WithoutKernels {
 public:
  WithoutKernels();
  WithoutKernels(const WithoutKernels&) = delete;
  WithoutKernels& operator=(const WithoutKernels&) = delete;
  ~WithoutKernels();
};

// How often kernels were started in this process.
int64_t LaunchCount();

// A kernel with its compiler's options, such as "-DWIDTH=384".
struct Kernel {
  const Source& source;
  const char* function;
  std::vector<std::string> options;
};

struct Grid {
  int64_t x = 1, y = 1, z = 1;  // blocks
  int64_t threads = 1;          // of a block
  int64_t shared_bytes = 0;     // of a block, beside what the kernel declares
};

// Puts the kernel into the current stream of `device`, which Serve was true for. A grid without
// blocks does nothing. Throws KernelError (nvrtc.h), and MemoryError where the GPU's memory is
// full.
void LaunchWith(const Kernel& kernel, const Grid& grid, const at::Device& device,
                std::span<const void* const> arguments);

// The arguments must have the types of the kernel's parameters, but for pointers: const void*.
template <typename... Arguments>
void Launch(const Kernel& kernel, const Grid& grid, const at::Device& device,
            const Arguments&... arguments) {
  const std::array<const void*, sizeof...(Arguments)> all = {&arguments...};
  LaunchWith(kernel, grid, device, all);
}

// What kernels call the type (Number in common.cuh); -1 for those that they do not take.
int NumberOf(at::ScalarType type);
// "-DNAME=VALUE"
std::string Option(const char* name, int64_t value);
// The address of a tensor's first element; null for an undefined one.
inline const void* PointerOf(const at::Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }
// Inactive dropout keeps everything.
DropoutArguments ArgumentsOf(const tensor::Dropout& dropout);

}  // namespace tandem::libtorch::kernels
