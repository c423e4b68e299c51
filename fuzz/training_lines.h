// Shared by the fuzz targets of training lines: reads, takes scores as grades, scales and splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "data/judgements/grades.h"
#include "data/training_set.h"

namespace tandem::data {

// Runs `read(LineReader&) -> Dataset` over the bytes, and then what training does with a Dataset.
template <typename Read>
void FuzzTrainingLines(const uint8_t* bytes, size_t size, const Read& read) {
  Warnings warnings;
  const auto dataset = [&] {
    LineReader reader("f", {reinterpret_cast<const char*>(bytes), size}, warnings);
    return read(reader);
  };
  try {
    const TrainingSet set = BuildTrainingSet(dataset(), 1, &warnings);
    // Every line has a positive, so no query is left out.
    if (set.queries_without_positive != 0 || set.examples.size() != set.queries.size()) {
      std::abort();
    }
    Dataset graded = dataset();
    ApplyScores(graded, ScoreUse::kGrades);
    ScaleGrades(graded, {.scale = GradeScale{-10, 10}});
    for (const JudgedQuery& query : graded.judged) {
      for (const Judgement& judgement : query.judgements) {
        if (!(judgement.grade >= 0 && judgement.grade <= 1)) std::abort();
      }
    }
  } catch (const Error&) {
  }
}

}  // namespace tandem::data
