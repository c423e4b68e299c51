#include "commands/guarantees/kept_promise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/index/index_description.h"
#include "eval/guarantees/promise.h"
#include "index/folder/manifest.h"

namespace tandem::app {

void AddKeepFlag(Flags& flags, std::string& keep, const char* help) {
  flags.Add("--keep", keep, help).Takes("PROMISE");
}

void CheckKept(const std::string& keep, bool by_document) {
  eval::ParsePromise(std::string_view(keep).substr(0, keep.find(kOfGroup)));
  if (by_document) {
    throw UsageError(
        "--keep is promised of the documents that the model was calibrated on, not of those that "
        "passages are of; it excludes --by-document");
  }
}

weights::Guarantee KeptPromise(const std::string& keep, const std::string& folder,
                               model::DualEncoder& model, const Globals& globals,
                               const SearchedCorpus& corpus) {
  const weights::Guarantees guarantees = GuaranteesOf(folder);
  weights::Guarantee found = FindGuarantee(guarantees, keep);
  CheckBasis(guarantees.basis, BasisOfModel(model, globals), folder, corpus);
  return found;
}

void WarnOfApproximate(std::span<const weights::Guarantee> promises, const std::string& folder) {
  std::vector<std::string> names, segments;
  for (const weights::Guarantee& one : promises) {
    if (one.promise.kind != eval::PromiseKind::kNoAnswer) names.push_back(one.Name());
  }
  if (names.empty()) return;
  for (const index::SegmentRecord& segment : index::ReadManifest(folder).segments) {
    if (segment.choice.kind->exact) continue;
    const auto measured = MeasuredRecallOf(folder, segment);
    segments.push_back(measured
                           ? fmt::format("{}, which found {:.3f} of the best 10 when it was built",
                                         segment.choice.kind->name, measured->recall)
                           : std::string(segment.choice.kind->name));
  }
  if (segments.empty()) return;
  Warn(
      fmt::format("{}: is approximate ({}) and may miss documents: {} was promised of exact "
                  "search, and nothing is promised of this one; build the index with --kind fp32",
                  folder, fmt::join(segments, "; "), fmt::join(names, ", ")));
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
