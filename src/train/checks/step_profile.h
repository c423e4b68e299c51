// `tandem train --profile`: the time of a step by operation, beside what the machine could do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/tables/table.h"
#include "tensor/machine/precision.h"
#include "tensor/profile/profile.h"

namespace tandem::train {

// Sums over the steps that were profiled; ProfileObserver fills it.
struct StepProfile {
  tensor::Profile operations;
  int64_t steps = 0;
  int64_t tokens = 0;
};

// The limits that times are compared with.
struct ProfileSetting {
  double product_rate = 0;     // FLOP/s of matrix products at the model's shapes
  double memory_rate = 0;      // bytes/s
  double flops_per_token = 0;  // of a training step: forward and backward products
  std::string machine;         // "bf16, 2 threads, avx512_bf16"
};

// Measures the two rates in the run's precision, which takes about a second.
ProfileSetting MeasureSetting(const StepProfile& profile, tensor::Precision precision,
                              double flops_per_token);

// One operation, per step. Its limit is the longer of two times at the machine's rates: that of its
// matrix products and that of its memory traffic. An operation for which neither is counted has no
// limit.
struct ProfileRow {
  std::string name;
  double calls = 0;
  double seconds = 0;
  double share = 0;             // of the step
  double flops_per_second = 0;  // 0: it has no products
  double bytes_per_second = 0;
  double limit_seconds = 0;  // 0: none
  bool memory_bound = false;
};

// The slowest operation first. None where no step was profiled.
std::vector<ProfileRow> ProfileRows(const StepProfile& profile, const ProfileSetting& setting);

// `format` is "text", "tsv" or "json". Only text rounds its figures; it is made to
// fit `style`.
std::string FormatProfile(const StepProfile& profile, const ProfileSetting& setting,
                          std::string_view format, const report::TextStyle& style);

}  // namespace tandem::train
