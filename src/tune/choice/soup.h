// The greedy soup of the trials: one model whose weights are the mean of several trials' weights.
#pragma once

#include <string>
#include <vector>

#include "tune/choice/arm_place.h"
#include "tune/search_context.h"

namespace tandem::tune {

// Adds the greedy soup of the arms, which are the trials of full length, best first (Wortsman et
// al. 2022, "Model soups: averaging weights of multiple fine-tuned models improves accuracy without
// increasing inference time", recipe 1): it begins with the best trial, and each further one joins
// where the mean of all weights, in equal shares, does at least as well by the validation measure.
// Everything but the weights is the best trial's. Nothing is added where none joins, where there is
// but one trial, or where tune.soup, or without it tune.retrain, says so. Each mean that was
// tried has its row "soup" in the journal; one that cannot be made, as of models with other
// modules, has "why" there, and a warning. The models of means that did not stay are removed; the
// soup so far is made again where somebody removed it, and ModelError says where a trial's model is
// gone.
void AddSoup(const SearchContext& search, std::vector<ArmPlace>* arms);

// Makes the soup that an arm of the row "choice" is again where somebody removed it.
void RestoreSoup(const SearchContext& search, const Json& arm);

// Whose weights an arm of the journal's row "choice" has: "trials 7, 15, 14", the best first; "" of
// one trial.
std::string SoupText(const Json& arm);

}  // namespace tandem::tune
