// Averages of weights that a search measures beside its trials.
#pragma once

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
};

// Makes the average (weights/folders/average_models.h), unless an earlier process did; rank 0 does.
// Returns why it cannot be made, else "", on all ranks.
std::string MakeAverage(const SearchContext& search, const AverageOfTwo& average);

// Adds the averages of the base and the best arm, which is the last one where it is of several
// trials (AddSoup), else the first, by the weights of tune.average, or, where sentinel sets are
// kept watch on, by 0.25, 0.5 and 0.75. Each has its row "average" in the journal.
void AddAverages(const SearchContext& search, std::vector<ArmPlace>* arms);

}  // namespace tandem::tune
