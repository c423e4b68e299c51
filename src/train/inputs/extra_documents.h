// Decides how many extra labelled documents each query brings into a batch besides its paired one
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

// The number of documents that the training queries can be paired with.
struct LabelCount {
  size_t documents = 0;
  std::string_view name;  // "positives", or "labelled documents" if they may have any grade
};
LabelCount CountLabels(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own);

// The numbers of extra documents of the training queries: judged negatives (grade 0), or, if the
// paired document may have any grade, labelled documents besides the paired one.
struct ExtraCounts {
  size_t queries = 0;
  size_t without = 0;   // queries that have none
  size_t fewer = 0;     // queries with fewer than the recipe asks for; 0: it asks for none
  size_t least = 0;     // smallest number of a query
  size_t median = 0;    // the lower median over the queries
  size_t most = 0;      // largest number of a query
  bool graded = false;  // extra labelled documents, not judged negatives
  size_t mined = 0;     // extra negatives that the run mines for each query

  // Returns "judged negatives" or "extra labelled documents".
  std::string_view name() const;
  // "190 of 198 training queries have judged negatives (0 to 5, lower median 1)"; with [mining], ",
  // and 5 are mined for each query" is added.
  std::string Text() const;
};

// Counts the examples `training` of `set`. `asked` is `data.negatives`, or 0.
ExtraCounts CountExtra(const data::TrainingSet& set, std::span<const uint32_t> training,
                       bool graded_own, size_t asked);

// Decides `data.negatives` if the recipe does not give it: the lower median over the training
// queries, at most 7, and at least 1 with [mining]. Writes the number into the recipe. Returns the
// counts, for reports. Warns if some queries have fewer documents than the recipe asks for, mined
// ones included. Throws DataError if the recipe asks for some and no training query has any. Throws
// RecipeError if the recipe asks for more than judged and mined documents together, or if an
// objective that compares labelled documents would get none.
ExtraCounts ResolveNegatives(config::LoadedRecipe& loaded, const data::TrainingSet& set,
                             std::span<const uint32_t> training, const objective::Needs& needs);

}  // namespace tandem::train
