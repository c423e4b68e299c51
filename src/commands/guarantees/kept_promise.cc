#include "commands/guarantees/kept_promise.h"

#include <fmt/format.h>

#include "base/log.h"
#include "commands/guarantees/guarantee_basis.h"

namespace tandem::app {

void AddKeepFlag(Flags& flags, std::string& keep, const char* help) {
  flags.Add("--keep", keep, help).Takes("PROMISE");
}

weights::Guarantee KeptPromise(const std::string& keep, const std::string& folder,
                               model::DualEncoder& model, const Globals& globals,
                               size_t documents) {
  const weights::Guarantees guarantees = GuaranteesOf(folder);
  weights::Guarantee found = FindGuarantee(guarantees, keep);
  CheckBasis(guarantees.basis, BasisOfModel(model, globals), folder, documents);
  return found;
}

void WarnOfDepth(const weights::Guarantee& guarantee, size_t top_k, size_t cut) {
  if (guarantee.depth > 0 && top_k != guarantee.depth) {
    Warn(
        fmt::format("{} was promised of the best {} documents of a query, and up to {} are shown: "
                    "nothing is promised of them; leave --top-k out",
                    guarantee.Name(), guarantee.depth, top_k));
  }
  if (guarantee.depth == 0 && cut > 0) {
    Warn(
        fmt::format("{} was promised of all documents above the threshold, and {} queries had as "
                    "many as are shown, {}: nothing is promised of these; raise --top-k",
                    guarantee.Name(), cut, top_k));
  }
}

}  // namespace tandem::app
