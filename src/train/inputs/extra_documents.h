// How many labelled documents each query brings into a batch besides its own one
// (`data.negatives`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/recipe/recipe_parse.h"
#include "data/training_set.h"
#include "objective/catalogue.h"

namespace tandem::train {

// How many documents the queries can take for their own one.
struct LabelCount {
  size_t documents = 0;
  std::string_view name;  // "positives", or "labelled documents" where they may have any grade
};
LabelCount CountLabels(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own);

// What the training queries have: judged negatives (grade 0), or, where paired documents may have
// any grade, labelled documents besides the own one.
struct ExtraCounts {
  size_t queries = 0;
  size_t without = 0;   // queries that have none
  size_t fewer = 0;     // queries that have fewer than were asked for; 0 where nobody asked
  size_t least = 0;     // of a query
  size_t median = 0;    // the lower median over the queries
  size_t most = 0;      // of a query
  bool graded = false;  // extra labelled documents, not judged negatives
  size_t mined = 0;     // that the run mines for each of them besides

  // "judged negatives", "extra labelled documents"
  std::string_view name() const;
  // "190 of 198 training queries have judged negatives (0 to 5, lower median 1)"; with [mining]
  // ", and 5 are mined for each query" after it
  std::string Text() const;
};

// Counts the examples `training` of `set`. `asked` is `data.negatives`, or 0.
ExtraCounts CountExtra(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own, size_t asked);

// Decides `data.negatives` where the recipe does not give it: the lower median over the training
// queries, at most 7, and with [mining] at least 1; the recipe then says what is used. Returns what
// was found, for reports. Warns where some queries have fewer than the recipe asks for, those that
// will be mined for them included. Throws DataError where it asks for some and no training query
// has any, and RecipeError where it asks for more than judged and mined ones together, and where an
// objective that compares labelled documents would get none.
ExtraCounts ResolveNegatives(config::LoadedRecipe& loaded, const data::TrainingSet& set,
                             std::span<const uint32_t> training, const objective::Needs& needs);

}  // namespace tandem::train
