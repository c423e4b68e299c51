// What is searched where a recipe's [tune] names no key: a space by the kind of data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"
#include "config/tune/tune_recipe.h"
#include "train/inputs/run_data.h"

namespace tandem::tune {

// What a space depends on.
struct DataKind {
  bool taught = false;     // the recipe's objective learns from a teacher's scores
  bool graded = false;     // more than two grades, in [0, 1] or on the recipe's data.grade_scale
  bool negatives = false;  // some documents are judged negatives
  size_t queries = 0;      // that are trained on
  size_t documents = 0;    // of the corpus
};
DataKind KindOf(const config::Recipe& recipe, const train::RunData& data, bool taught);

// The keys of the space for such data, ascending by path: the objective with its temperature or
// scale, the learning rate, epochs, how many negatives of each query, mining, pruning, and adapters
// or all weights. Keys that the recipe's own values make pointless are left out.
std::vector<config::SearchKey> DefaultKeys(const config::Recipe& recipe, const DataKind& kind);

// "graded judgements", "pairs with judged negatives", ...
std::string KindText(const DataKind& kind);

}  // namespace tandem::tune
