// What tests of a run's sources ask for and are made of.
#pragma once

#include <string>
#include <vector>

#include "objective/catalogue.h"

namespace tandem::train {

inline constexpr objective::Needs kGraded = {.grades = true, .graded_own = true};
inline constexpr objective::Needs kTeacher = {.teacher = true, .graded_own = true};

inline const std::vector<std::string> kWords = {"red", "green", "blue", "black", "white"};

}  // namespace tandem::train
