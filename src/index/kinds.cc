#include "base/error.h"
#include "index/vector_index.h"

namespace tandem::index {

config::Catalogue IndexKindCatalogue() {
  return {.name = "indexes",
          .entry = "index",
          .table = "",
          .summary = "kinds of indexes: tandem index build --kind",
          .entries = config::EntriesOf(IndexKinds())};
}

const IndexKindInfo& FindIndexKind(std::string_view name) {
  if (const IndexKindInfo* info = config::FindEntry(IndexKinds(), name)) return *info;
  throw UsageError("kind of index " + config::UnknownName(name, config::EntryNames(IndexKinds())));
}

}  // namespace tandem::index
