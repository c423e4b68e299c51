#include "tensor/forms.h"

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <string>

#include "base/log.h"
#include "base/process/asked_forms.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/kernel_arguments.h"

namespace tandem::tensor {
namespace {

Form FormOfEnvironment() {
  switch (FormsOfEnvironment()) {
    case AskedForms::kReference:
      return Form::kReference;
    case AskedForms::kPortable:
      return Form::kPortable;
    case AskedForms::kFused:
      break;
  }
  return Form::kFused;
}

thread_local Form wanted_form = FormOfEnvironment();

bool HasKernelType(const Tensor& x) { return x.dtype() == kFloat || x.dtype() == kBFloat16; }

}  // namespace

UseForm::UseForm(Form form) : outer_(wanted_form) { wanted_form = form; }
UseForm::~UseForm() { wanted_form = outer_; }
Form UseForm::Wanted() { return wanted_form; }

Form FormOf(const Tensor& x, std::string_view operation, std::initializer_list<int64_t> widths) {
  if (wanted_form != Form::kFused) return wanted_form;
  if (!x.is_cpu()) return Form::kPortable;
  if (!HasKernelType(x)) return Form::kReference;
  for (const int64_t width : widths) {
    if (FitsKernels(width)) continue;
    SayReferenceForm(operation, fmt::format("{} channels are not a multiple of 16 up to {}", width,
                                            cpu::kMaxWidth));
    return Form::kReference;
  }
  return Form::kFused;
}

void SayReferenceForm(std::string_view operation, std::string_view reason) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::string line = fmt::format("{} runs in its slow reference form: {}", operation, reason);
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) Note(line);
}

}  // namespace tandem::tensor
