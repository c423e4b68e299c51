#include "tensor/forms.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "tensor/kernel_arguments.h"
#include "tensor/ops.h"

namespace tandem::tensor {
namespace {

// TANDEM_FORMS=reference uses the reference operations everywhere, to compare whole runs.
bool ReferenceOpsWanted() {
  const char* forms = std::getenv("TANDEM_FORMS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view wanted = forms == nullptr ? "" : forms;
  if (wanted == "reference") return true;
  if (wanted.empty() || wanted == "fused") return false;
  throw UsageError(fmt::format("TANDEM_FORMS is fused or reference, not {}", wanted));
}

thread_local int reference_ops = ReferenceOpsWanted() ? 1 : 0;

bool HasKernelType(const at::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16);
}

}  // namespace

int Threads() { return omp_in_parallel() ? 1 : at::get_num_threads(); }

UseReferenceOps::UseReferenceOps() { ++reference_ops; }
UseReferenceOps::~UseReferenceOps() { --reference_ops; }
bool UseReferenceOps::Active() { return reference_ops > 0; }

bool Fusable(const at::Tensor& x, at::ArrayRef<int64_t> widths) {
  return reference_ops == 0 && HasKernelType(x) &&
         std::all_of(widths.begin(), widths.end(), FitsKernels);
}

void SayReferenceForm(const at::Tensor& x, std::string_view operation, std::string_view reason) {
  if (reference_ops > 0 || !HasKernelType(x)) return;
  static std::mutex mutex;
  static std::set<std::string> said;
  std::string line = fmt::format("{} runs in its slow reference form: {}", operation, reason);
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) Note(line);
}

bool FusableOrSay(const at::Tensor& x, std::string_view operation, at::ArrayRef<int64_t> widths) {
  if (Fusable(x, widths)) return true;
  for (const int64_t width : widths) {
    if (FitsKernels(width)) continue;
    SayReferenceForm(
        x, operation,
        fmt::format("{} channels are not a multiple of 16 up to {}", width, cpu::kMaxWidth));
  }
  return false;
}

}  // namespace tandem::tensor
