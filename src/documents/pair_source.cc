#include "documents/pair_source.h"

namespace tandem::documents {

config::Catalogue PairSourceCatalogue() {
  return {.name = "pair_sources",
          .entry = "pair_source",
          .table = "",
          .summary = "what `tandem pairs` makes pairs of a query and a text of",
          .entries = config::EntriesOf(PairSources())};
}

}  // namespace tandem::documents
