#include "commands/identical_ids.h"

#include <fmt/format.h>

#include "eval/identical_ids.h"

namespace tandem::app {

void AddIdenticalIdsFlag(Flags& flags, bool& ignore) {
  flags.AddSwitch("--ignore-identical-ids", ignore,
                  "Leave out of a query's results the document that has its id, unless that is "
                  "judged relevant (BEIR's rule)");
}

std::vector<eval::Remark> IdenticalIdsRemarks(bool ignore, size_t queries) {
  if (queries == 0) return {};
  if (ignore) {
    return {
        {fmt::format("queries whose own id was left out of their results: {}", queries), false}};
  }
  return {{fmt::format("queries with a document of their own id among their results: {}; where it "
                       "is the query itself, --ignore-identical-ids leaves it out, as BEIR does",
                       queries),
           true}};
}

std::vector<eval::Remark> TreatIdenticalIds(bool ignore, const data::Qrels* qrels, data::Run& run) {
  const eval::IdenticalIds found =
      ignore ? eval::LeaveOutIdenticalIds(qrels, run) : eval::CountIdenticalIds(run, qrels);
  std::vector<eval::Remark> remarks = IdenticalIdsRemarks(ignore, found.queries);
  if (ignore && found.relevant > 0) {
    remarks.push_back({fmt::format("queries whose own id is judged relevant and stays among their "
                                   "results (BEIR leaves it out too): {}",
                                   found.relevant),
                       true});
  }
  return remarks;
}

std::vector<eval::Remark> OwnTextRemarks(size_t queries) {
  if (queries == 0) return {};
  return {{fmt::format("queries whose own text is also a document, under another id, which is "
                       "ranked as all others are, mostly first: {}",
                       queries),
           false}};
}

}  // namespace tandem::app
