#include "tensor/forms.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "tensor/kernel_arguments.h"

namespace tandem::tensor {
namespace {

// TANDEM_FORMS=reference or portable uses these operations everywhere, to compare whole runs.
Form FormOfEnvironment() {
  const char* forms = std::getenv("TANDEM_FORMS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view wanted = forms == nullptr ? "" : forms;
  if (wanted == "reference") return Form::kReference;
  if (wanted == "portable") return Form::kPortable;
  if (wanted.empty() || wanted == "fused") return Form::kFused;
  throw UsageError(fmt::format("TANDEM_FORMS is fused, reference or portable, not {}", wanted));
}

thread_local Form wanted_form = FormOfEnvironment();

bool HasKernelType(const at::Tensor& x) {
  return x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16;
}

}  // namespace

int Threads() { return omp_in_parallel() ? 1 : at::get_num_threads(); }

UseForm::UseForm(Form form) : outer_(wanted_form) { wanted_form = form; }
UseForm::~UseForm() { wanted_form = outer_; }
Form UseForm::Wanted() { return wanted_form; }

Form FormOf(const at::Tensor& x, std::string_view operation, at::ArrayRef<int64_t> widths) {
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
