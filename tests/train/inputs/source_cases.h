// What tests of a run's sources ask for and are made of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "objective/catalogue.h"
#include "train/inputs/run_data.h"

namespace tandem::train {

inline constexpr objective::Needs kPlain;
inline constexpr objective::Needs kGraded = {.grades = true, .graded_own = true};
inline constexpr objective::Needs kTeacher = {.teacher = true, .graded_own = true};

inline const std::vector<std::string> kWords = {"red", "green", "blue", "black", "white"};

// The number of judgements with each grade, over the training queries.
inline std::map<double, int> Grades(const RunData& data) {
  std::map<double, int> grades;
  for (const uint32_t e : data.training) {
    const data::TrainingQuery& query = data.set.examples[e];
    for (const auto* list : {&query.positives, &query.others}) {
      for (const data::Judgement& judgement : *list) ++grades[judgement.grade];
    }
  }
  return grades;
}

}  // namespace tandem::train
