#include "libtorch/kernels/nvrtc.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <memory>

namespace tandem::libtorch::kernels {
namespace {

// As in nvrtc.h, which not every package has. 0 is success.
using Program = struct _nvrtcProgram*;

struct Nvrtc {
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*compile)(Program, int options, const char* const* texts) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*code_size)(Program, size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
};

template <typename Function>
void FindInCompiler(const char* name, Function*& function) {
  static const std::string library = fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000);
  // The second one is libtorch's own way to it: a library that is linked with the compiler,
  // wherever that is.
  function =
      reinterpret_cast<Function*>(RequireFunction({library.c_str(), "libcaffe2_nvrtc.so"}, name));
}

const Nvrtc& Compiler() {
  static const Nvrtc library = [] {
    Nvrtc made;
    FindInCompiler("nvrtcCreateProgram", made.create);
    FindInCompiler("nvrtcCompileProgram", made.compile);
    FindInCompiler("nvrtcGetProgramLogSize", made.log_size);
    FindInCompiler("nvrtcGetProgramLog", made.log);
    FindInCompiler("nvrtcGetCUBINSize", made.code_size);
    FindInCompiler("nvrtcGetCUBIN", made.code);
    FindInCompiler("nvrtcDestroyProgram", made.destroy);
    return made;
  }();
  return library;
}

// A text that a pair of the library's functions gives.
std::string TextOf(Program program, int (*size_of)(Program, size_t*), int (*get)(Program, char*)) {
  size_t size = 0;
  if (size_of(program, &size) != 0) return {};
  std::string text(size, '\0');
  if (get(program, text.data()) != 0) return {};
  return text;
}

// The first line of the compiler's messages that names an error.
std::string FirstError(const std::string& log) {
  const size_t at = log.find("error");
  const size_t begin = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

}  // namespace

std::string Compile(const Source& source, const std::vector<std::string>& options, int capability) {
  const Nvrtc& library = Compiler();
  Program program = nullptr;
  if (library.create(&program, source.text, source.name, 0, nullptr, nullptr) != 0) {
    throw KernelError(fmt::format("the compiler does not take {}", source.name));
  }
  const auto destroy = [&library](Program* made) { library.destroy(made); };
  const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);
  const std::string architecture = fmt::format("--gpu-architecture=sm_{}", capability);
  std::vector<const char*> texts = {architecture.c_str(), "-std=c++17"};
  for (const std::string& option : options) texts.push_back(option.c_str());
  const int status = library.compile(program, static_cast<int>(texts.size()), texts.data());
  std::string code = status == 0 ? TextOf(program, library.code_size, library.code) : "";
  if (!code.empty()) return code;
  throw KernelError(fmt::format("{} is not compiled for sm_{}: {}", source.name, capability,
                                FirstError(TextOf(program, library.log_size, library.log))));
}

void* FindFunction(std::initializer_list<const char*> libraries, const char* name) {
  for (const char* library : libraries) {
    // It stays loaded: functions of it are kept.
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    if (void* const function = dlsym(handle, name)) return function;
  }
  return nullptr;
}

void* RequireFunction(std::initializer_list<const char*> libraries, const char* name) {
  if (void* const function = FindFunction(libraries, name)) return function;
  throw KernelError(fmt::format("{} is not found in {}", name, fmt::join(libraries, " or ")));
}

}  // namespace tandem::libtorch::kernels
