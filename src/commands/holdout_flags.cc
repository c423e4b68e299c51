#include "commands/holdout_flags.h"

#include "cli/flags.h"

namespace tandem::app {

void AddHoldoutFlags(Flags& flags, HoldoutFlags& holdout, const char* share) {
  holdout.default_share = share;
  holdout.split_by = "documents";
  flags
      .Add(
          "--holdout", holdout.share,
          "Share of the queries that is held out, half of it as split test and half as dev: 15% or "
          "0.15; 0: all are in train. Near-copies of a query stay with it (--seed draws)")
      .Takes("SHARE")
      .ShowDefault(share);
  flags
      .Add("--split-by", holdout.split_by,
           "What splits must not share besides near-copies of queries: documents that are relevant "
           "to queries of two splits, or queries alone")
      .OneOf({"documents", "queries"})
      .ShowDefault();
}

import_data::HoldoutOptions HoldoutOptionsOf(const HoldoutFlags& holdout, uint64_t seed) {
  return {
      .share = import_data::ParseShare(holdout.share.value_or(holdout.default_share), "--holdout"),
      .seed = seed,
      .by_documents = holdout.split_by == "documents"};
}

}  // namespace tandem::app
