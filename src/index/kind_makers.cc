#include <fmt/format.h>

#include <stdexcept>

#include "index/vector_index.h"

namespace tandem::index {

const IndexKindMaker& MakerOf(const IndexKindInfo& kind) {
  for (const IndexKindMaker* maker : IndexKindMakers()) {
    if (maker->info == &kind) return *maker;
  }
  throw std::logic_error(fmt::format("nobody makes indexes of the kind {}", kind.name));
}

}  // namespace tandem::index
