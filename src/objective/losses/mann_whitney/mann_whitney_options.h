// The parameters of the Mann-Whitney loss, which its forms read alike.
#pragma once

#include <string>

#include "config/params.h"

namespace tandem::objective {

struct MannWhitneyOptions {
  explicit MannWhitneyOptions(const config::Params& params)
      : temperature(params.Number("temperature")),
        mean(params.String("normalization") == "mean"),
        form(params.String("form")) {}

  // Says whether the fast form sums up the pairs.
  bool FastWins(double positives, double negatives) const {
    if (form != "auto") return form == "fast";
    // mann_whitney_bench: some 10 ns for a pair in the tiled form, 50 ns for a score in the fast
    // one, whose cells cost up to 4 ms besides at low temperatures.
    return positives * negatives > 5 * (positives + negatives) + 400000;
  }

  double temperature;
  bool mean;
  std::string form;
};

}  // namespace tandem::objective
