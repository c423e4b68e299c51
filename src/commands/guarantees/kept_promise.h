// The promise that a search keeps: the flag --keep of `tandem search`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "cli/flags.h"
#include "cli/globals.h"
#include "commands/guarantees/guarantee_basis.h"
#include "model/dual_encoder.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

// The most hits of a query where a promise is kept and nobody says how many there may be.
inline constexpr size_t kMostKept = 1000;

// Adds --keep.
void AddKeepFlag(Flags& flags, std::string& keep, const char* help);

// Throws UsageError for a `keep` that is no promise, and for documents by their passages, of which
// nothing is promised.
void CheckKept(const std::string& keep, bool by_document);

// The guarantee of `folder`'s tandem.json that `keep` names. Throws and warns as CheckBasis and
// FindGuarantee.
weights::Guarantee KeptPromise(const std::string& keep, const std::string& folder,
                               model::DualEncoder& model, const Globals& globals,
                               const SearchedCorpus& corpus);

// Warns where an index of `folder` is approximate: it may miss documents that score above the
// threshold, and so break promises (but not that of no answer, since less is shown). Says which
// recall was measured when it was built.
void WarnOfApproximate(std::span<const weights::Guarantee> promises, const std::string& folder);

// Warns where the promise does not hold of a search with so many hits of a query: `cut` queries had
// as many, and there may be more. `top_k` 0: nobody said.
void WarnOfDepth(const weights::Guarantee& guarantee, size_t top_k, size_t cut);

}  // namespace tandem::app
