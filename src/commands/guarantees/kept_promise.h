// The promise that a search keeps: the flag --keep of `tandem search`.
#pragma once

#include <cstddef>
#include <string>

#include "cli/flags.h"
#include "cli/globals.h"
#include "model/dual_encoder.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

// The most hits of a query where a promise is kept and nobody says how many there may be.
inline constexpr size_t kMostKept = 1000;

// Adds --keep.
void AddKeepFlag(Flags& flags, std::string& keep, const char* help);

// The guarantee of `folder`'s tandem.json that `keep` names. `documents` is the size of the corpus
// that is searched. Throws and warns as CheckBasis and FindGuarantee.
weights::Guarantee KeptPromise(const std::string& keep, const std::string& folder,
                               model::DualEncoder& model, const Globals& globals, size_t documents);

// Warns where the promise does not hold of a search with so many hits of a query: `cut` queries had
// as many, and there may be more. `top_k` 0: nobody said.
void WarnOfDepth(const weights::Guarantee& guarantee, size_t top_k, size_t cut);

}  // namespace tandem::app
