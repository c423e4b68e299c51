// `tandem train --profile`: where a step's time went, against what the machine can do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/precision.h"
#include "tensor/profile.h"

namespace tandem::train {

// What a loop fills in.
struct StepProfile {
  tensor::Profile operations;
  int64_t steps = 0;
  int64_t tokens = 0;
};

// What the times are compared with.
struct ProfileSetting {
  double product_rate = 0;     // FLOP/s of matrix products at the model's shapes
  double memory_rate = 0;      // bytes/s
  double flops_per_token = 0;  // of a training step: forward and backward products
  std::string machine;         // "bf16, 2 threads, avx512_bf16"
};

// Measures the two rates, in the precision of the run. Takes about a second.
ProfileSetting MeasureSetting(const StepProfile& profile, tensor::Precision precision,
                              double flops_per_token);

// One operation, per step. A limit is the longer of the times that its products and its memory
// traffic take at the machine's rates; an operation that is not counted in either has none.
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

// By falling time.
std::vector<ProfileRow> ProfileRows(const StepProfile& profile, const ProfileSetting& setting);

// `format` is text, tsv or json. Text rounds, the others do not.
std::string FormatProfile(const StepProfile& profile, const ProfileSetting& setting,
                          std::string_view format);

}  // namespace tandem::train
