#include "libtorch/kernels/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/log.h"

#if TANDEM_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "libtorch/kernels/nvrtc.h"
#endif

namespace tandem::libtorch::kernels {
namespace {

thread_local int without = 0;
std::atomic<int64_t> launches{0};

}  // namespace

WithoutKernels::WithoutKernels() { ++without; }
WithoutKernels::~WithoutKernels() { --without; }

int64_t LaunchCount() { return launches; }

int NumberOf(at::ScalarType type) {
  constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};
  const auto found = std::find(std::begin(kTypes), std::end(kTypes), type);
  return found == std::end(kTypes) ? -1 : static_cast<int>(found - std::begin(kTypes));
}

std::string Option(const char* name, int64_t value) { return fmt::format("-D{}={}", name, value); }

DropoutArguments ArgumentsOf(const tensor::Dropout& dropout) {
  // The first two steps of tensor::SiteKey.
  const uint64_t key =
      tensor::MixBits(tensor::MixBits(dropout.seed + 0x632BE59BD9B4E019) + dropout.step);
  return {.step_key = key,
          .site = dropout.site,
          .threshold = tensor::KeepThreshold(dropout.rate),
          .scale = dropout.active() ? tensor::KeepScale(dropout.rate) : 1.0F};
}

#if TANDEM_WITH_CUDA
namespace {

// The driver's functions, which libtorch's libraries do not name either: it is loaded where it is.
struct CudaDriver {
  decltype(&cuModuleLoadData) load = nullptr;
  decltype(&cuModuleGetFunction) function = nullptr;
  decltype(&cuFuncSetAttribute) set_attribute = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
  decltype(&cuCtxGetCurrent) context = nullptr;
  decltype(&cuGetErrorString) error = nullptr;
};

template <typename Function>
void FindInDriver(const char* name, Function& function) {
  function = reinterpret_cast<Function>(RequireFunction({"libcuda.so.1"}, name));
}

const CudaDriver& LoadedDriver() {
  static const CudaDriver driver = [] {
    CudaDriver made;
    FindInDriver("cuModuleLoadData", made.load);
    FindInDriver("cuModuleGetFunction", made.function);
    FindInDriver("cuFuncSetAttribute", made.set_attribute);
    FindInDriver("cuLaunchKernel", made.launch);
    FindInDriver("cuCtxGetCurrent", made.context);
    FindInDriver("cuGetErrorString", made.error);
    return made;
  }();
  return driver;
}

void Expect(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw MemoryError(0, /*of_device=*/true);
  const char* text = nullptr;
  LoadedDriver().error(result, &text);
  throw KernelError(fmt::format("{}: {}", what, text == nullptr ? "unknown error" : text));
}

// The driver's calls need the context of the current device, which the runtime makes current on a
// thread's first use of it.
void NeedContext() {
  CUcontext context = nullptr;
  Expect(LoadedDriver().context(&context), "asking for the GPU's context");
  if (context != nullptr) return;
  const cudaError_t made = cudaFree(nullptr);
  if (made != cudaSuccess) throw KernelError(cudaGetErrorString(made));
}

// More than 48 KiB of a block's shared memory must be asked for.
constexpr int64_t kFreeSharedBytes = 48 * 1024;

int CapabilityOf(const at::Device& device) {
  const auto* properties = at::cuda::getDeviceProperties(device.index());
  return properties->major * 10 + properties->minor;
}

// Compiled code of all devices.
class Modules {
 public:
  CUfunction Function(const Kernel& kernel, const Grid& grid, const at::Device& device) {
    const std::lock_guard lock(mutex_);
    Module& module = ModuleOf(kernel, device);
    const auto found = module.functions.find(kernel.function);
    if (found != module.functions.end()) return found->second;
    CUfunction function = nullptr;
    Expect(LoadedDriver().function(&function, module.code, kernel.function), kernel.function);
    if (grid.shared_bytes > kFreeSharedBytes) {
      Expect(LoadedDriver().set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          static_cast<int>(grid.shared_bytes)),
             kernel.function);
    }
    module.functions.emplace(kernel.function, function);
    return function;
  }

 private:
  struct Module {
    CUmodule code = nullptr;
    std::map<std::string, CUfunction> functions;
  };

  Module& ModuleOf(const Kernel& kernel, const at::Device& device) {
    std::string key =
        fmt::format("{} {} {}", device.index(), kernel.source.name, fmt::join(kernel.options, " "));
    const auto found = modules_.find(key);
    if (found != modules_.end()) return found->second;
    const std::string code = Compile(kernel.source, kernel.options, CapabilityOf(device));
    Module module;
    CUresult loaded = LoadedDriver().load(&module.code, code.data());
    if (loaded == CUDA_ERROR_OUT_OF_MEMORY) {
      c10::cuda::CUDACachingAllocator::emptyCache();  // it may hold all of the GPU's memory
      loaded = LoadedDriver().load(&module.code, code.data());
    }
    Expect(loaded, kernel.source.name);
    return modules_.emplace(std::move(key), std::move(module)).first->second;
  }

  std::mutex mutex_;
  std::map<std::string, Module> modules_;
};

Modules& AllModules() {
  static Modules& modules = *new Modules;  // never unloaded: the driver may be gone before
  return modules;
}

// Whether a kernel can be made there.
bool CanMake(const at::Device& device) {
  if (CapabilityOf(device) < 80) return false;
  try {
    const c10::cuda::CUDAGuard guard(device);
    NeedContext();
    AllModules().Function({kElementsSource, "PoolForward", {Option("IN", 0)}}, {}, device);
    return true;
  } catch (const KernelError& error) {
    Note(fmt::format("Tandem's own kernels for GPUs are not used, libtorch's are: {}",
                     error.what()));
    return false;
  }
}

}  // namespace

bool Serve(const at::Device& device) {
  if (!device.is_cuda() || without > 0) return false;
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, bool> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device.index());
  if (found != known.end()) return found->second;
  return known[device.index()] = CanMake(device);
}

void LaunchWith(const Kernel& kernel, const Grid& grid, const at::Device& device,
                std::span<const void* const> arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const c10::cuda::CUDAGuard guard(device);
  NeedContext();
  const CUfunction function = AllModules().Function(kernel, grid, device);
  const auto count = [](int64_t x) { return static_cast<unsigned>(x); };
  // The driver reads the arguments and writes none.
  std::vector<void*> all;
  for (const void* argument : arguments) all.push_back(const_cast<void*>(argument));
  Expect(LoadedDriver().launch(function, count(grid.x), count(grid.y), count(grid.z),
                               count(grid.threads), 1, 1, count(grid.shared_bytes),
                               at::cuda::getCurrentCUDAStream(device.index()), all.data(), nullptr),
         kernel.function);
  ++launches;
}
#else
bool Serve(const at::Device& /*device*/) { return false; }

void LaunchWith(const Kernel& /*kernel*/, const Grid& /*grid*/, const at::Device& /*device*/,
                std::span<const void* const> /*arguments*/) {
  throw std::logic_error("a build without CUDA has no kernels for GPUs");
}
#endif

}  // namespace tandem::libtorch::kernels
