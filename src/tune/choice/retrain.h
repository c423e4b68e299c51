// The choice, trained again on training and validation data together.
#pragma once

#include <filesystem>

#include "tune/search_context.h"

namespace tandem::tune {

// Trains the configuration once more, to its whole length, on the training queries and those that
// it was validated by, without validation, and averages it with the base where the choice is an
// average. Returns the model's folder. Writes the journal's row "retrained".
std::filesystem::path Retrain(const SearchContext& search, const config::Assignment& values,
                              double weight);

}  // namespace tandem::tune
