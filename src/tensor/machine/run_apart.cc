#include "tensor/machine/run_apart.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/parallel.h"
#include "tensor/forms.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {

void RunApart(size_t count, const std::function<void(size_t)>& task) {
  const int threads = ThreadCount();
  const bool gradients = GradEnabled();
  const Form form = UseForm::Wanted();
  Profile* const profile = Profile::Active();
  std::vector<Profile> profiles(static_cast<size_t>(threads));
  std::exception_ptr error;
  std::atomic<bool> failed = false;
  int working = threads;  // OMP_THREAD_LIMIT may allow fewer
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) working = omp_get_num_threads();
    const GradientMode same_mode(gradients);
    const UseForm same_form(form);
    Profile& mine = profiles[static_cast<size_t>(omp_get_thread_num())];
    const ActiveProfile active(profile ? &mine : nullptr);
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < count; ++i) {
      if (failed) continue;
      try {
        task(i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
  if (profile) {
    for (const Profile& part : profiles) profile->AddShare(part, working);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tandem::tensor
