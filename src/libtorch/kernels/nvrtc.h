// NVIDIA's run-time compiler of CUDA, which comes with every libtorch for GPUs: nobody needs a
// toolkit.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtorch/kernels/sources.h"

namespace tandem::libtorch::kernels {

// The compiler or the driver is not there, or does not take what it is given. A message of one
// line.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Machine code of the source for GPUs of `capability` (90 for 9.0), with options such as
// "-DWIDTH=384". Needs no GPU. Takes about a second for the largest source. Throws KernelError.
std::string Compile(const Source& source, const std::vector<std::string>& options, int capability);

// The function of this name in the first of the libraries that has it and can be loaded; null where
// none has.
void* FindFunction(std::initializer_list<const char*> libraries, const char* name);
// The same; throws KernelError where none has.
void* RequireFunction(std::initializer_list<const char*> libraries, const char* name);

}  // namespace tandem::libtorch::kernels
