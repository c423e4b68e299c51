#include "tensor/profile.h"

#include <algorithm>

namespace tandem::tensor {

void Profile::Add(std::string_view name, double seconds, const Work& work) {
  const auto found = std::find_if(operations_.begin(), operations_.end(),
                                  [&](const Operation& known) { return known.name == name; });
  Operation& operation =
      found != operations_.end() ? *found : operations_.emplace_back(Operation{.name = name});
  ++operation.calls;
  operation.seconds += seconds;
  operation.work.flops += work.flops;
  operation.work.bytes += work.bytes;
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
  profile_->Add(name_, seconds - profile_->inner_seconds_, work_);
  profile_->inner_seconds_ = outer_inner_seconds_ + seconds;
}

}  // namespace tandem::tensor
