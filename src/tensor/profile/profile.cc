#include "tensor/profile/profile.h"

#include <algorithm>

namespace tandem::tensor {

void Profile::Add(const Operation& done) {
  const auto found = std::find_if(operations_.begin(), operations_.end(),
                                  [&](const Operation& known) { return known.name == done.name; });
  Operation& operation =
      found != operations_.end() ? *found : operations_.emplace_back(Operation{.name = done.name});
  operation.calls += done.calls;
  operation.seconds += done.seconds;
  operation.work.flops += done.work.flops;
  operation.work.bytes += done.work.bytes;
}

void Profile::AddShare(const Profile& part, int threads) {
  for (Operation operation : part.operations_) {
    operation.seconds /= threads;
    inner_seconds_ += operation.seconds;
    Add(operation);
  }
  products_.insert(part.products_.begin(), part.products_.end());
}

void ProfileScope::Begin(std::string_view name, const Work& work) {
  name_ = name;
  work_ = work;
  outer_inner_seconds_ = profile_->inner_seconds_;
  profile_->inner_seconds_ = 0;
  start_ = std::chrono::steady_clock::now();
}

void ProfileScope::End() {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  profile_->Add({name_, 1, seconds - profile_->inner_seconds_, work_});
  profile_->inner_seconds_ = outer_inner_seconds_ + seconds;
}

}  // namespace tandem::tensor
