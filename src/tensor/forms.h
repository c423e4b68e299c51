// Chooses which form of an operation runs: fused kernels, the reference or the portable form.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tensor/core/tensor.h"

namespace tandem::tensor {

enum class Form {
  kFused,      // CPU kernels for float and bf16; they read memory through pointers
  kReference,  // plain loops, text by text and row by row: the oracle of the tests
  // Tensor operations of a back end (device_operations.h) on any device, without loops over texts
  // on the host. What a GPU runs.
  kPortable,
};

// While an object of this class is alive, operations that its thread calls use this form. kFused:
// the one that fits, which is also what a thread uses without such an object unless TANDEM_FORMS is
// "reference" or "portable".
class UseForm {
 public:
  explicit UseForm(Form form);
  UseForm(const UseForm&) = delete;
  UseForm& operator=(const UseForm&) = delete;
  ~UseForm();
  static Form Wanted();  // on this thread

 private:
  Form outer_;
};

class UseReferenceOps : public UseForm {
 public:
  UseReferenceOps() : UseForm(Form::kReference) {}
  static bool Active() { return Wanted() == Form::kReference; }
};

class UsePortableOps : public UseForm {
 public:
  UsePortableOps() : UseForm(Form::kPortable) {}
  static bool Active() { return Wanted() == Form::kPortable; }
};

// The form for activations like x with rows of these widths. The portable one, unless another is
// wanted, wherever x is not on the CPU; the fused one for float and bf16 on the CPU and widths that
// are multiples of 16; else the reference, which says so where a width stands in the way
// (SayReferenceForm).
Form FormOf(const Tensor& x, std::string_view operation, std::initializer_list<int64_t> widths);

// Says (Note) that an operation runs in its reference form, for another `reason` than that somebody
// asked for it: once for each operation and reason in a process, because it is slow.
void SayReferenceForm(std::string_view operation, std::string_view reason);

}  // namespace tandem::tensor
