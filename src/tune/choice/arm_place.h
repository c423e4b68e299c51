// A model that may be chosen, where its parts are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::tune {

struct ArmPlace {
  std::string name;             // "trial 7", "soup of 3 trials", "0.5 of trial 7"
  std::vector<int64_t> trials;  // whose weights are in it in equal shares; the best one first
  double weight = 1;            // of these weights, beside the base's
  std::filesystem::path model;
  std::filesystem::path values;  // of the validation's queries
};

}  // namespace tandem::tune
