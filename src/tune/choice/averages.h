// Averages of weights that a search measures beside its trials.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tune/choice/arm_place.h"
#include "tune/search_context.h"

namespace tandem::tune {

// Two models, the weight of the second, and the folder of their average.
struct AverageOfTwo {
  std::filesystem::path base;
  std::filesystem::path tuned;
  double weight = 0.5;
  std::filesystem::path output;
  std::string of;  // whose weights are in it, for the model's card
};

// "trial 7", "trials 7, 15, 14".
std::string TrialNames(const std::vector<int64_t>& trials);

// Makes the average (weights/folders/average_models.h), unless an earlier process did; rank 0 does.
// Returns why the two have none, else "", on all ranks. Throws ModelError where one is not there.
std::string MakeAverage(const SearchContext& search, const AverageOfTwo& average);

// Adds the averages of the base and the best arm, which is the last one where it is of several
// trials (AddSoup), else the first, by the weights of tune.average, or, where sentinel sets are
// kept watch on, by 0.25, 0.5 and 0.75. Each has its row "average" in the journal.
void AddAverages(const SearchContext& search, std::vector<ArmPlace>* arms);

}  // namespace tandem::tune
