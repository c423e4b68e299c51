// `tandem train --profile`: compares the time of each operation of a step with the time that the
// machine's limits allow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/tables/table.h"
#include "tensor/machine/precision.h"
#include "tensor/profile/profile.h"

namespace tandem::train {

// Sums over the profiled steps; ProfileObserver fills it.
struct StepProfile {
  tensor::Profile operations;
  int64_t steps = 0;
  int64_t tokens = 0;
};

// The machine's limits, with which times are compared.
struct ProfileSetting {
  double product_rate = 0;     // FLOP/s of matrix products at the model's shapes
  double memory_rate = 0;      // bytes/s
  double flops_per_token = 0;  // of a training step: products of forward and backward pass
  std::string machine;         // "bf16, 2 threads, avx512_bf16"
};

// Measures the two rates in the run's precision, which takes about a second.
ProfileSetting MeasureSetting(const StepProfile& profile, tensor::Precision precision,
                              double flops_per_token);

// One operation of a step. Its limit is the longer of two times at the machine's rates: the time of
// its matrix products and the time of its memory traffic. An operation for which neither is counted
// has no limit.
struct ProfileRow {
  std::string name;
  double calls = 0;
  double seconds = 0;
  double share = 0;             // of the step
  double flops_per_second = 0;  // 0: the operation has no products
  double bytes_per_second = 0;
  double limit_seconds = 0;  // 0: no limit
  bool memory_bound = false;
};

// Returns the rows, slowest operation first; no rows if no step was profiled.
std::vector<ProfileRow> ProfileRows(const StepProfile& profile, const ProfileSetting& setting);

// Formats the profile. `format` is "text", "tsv" or "json". Only the text is rounded, and it is
// laid out to fit `style`.
std::string FormatProfile(const StepProfile& profile, const ProfileSetting& setting,
                          std::string_view format, const report::TextStyle& style);

}  // namespace tandem::train
