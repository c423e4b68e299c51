#include <fmt/format.h>

#include <stdexcept>

#include "config/catalogue_half.h"
#include "index/vector_index.h"

namespace tandem::index {

const IndexKindMaker& MakerOf(const IndexKindInfo& kind) {
  if (const IndexKindMaker* maker = config::FindHalf(IndexKindMakers(), kind)) return *maker;
  throw std::logic_error(fmt::format("nobody makes indexes of the kind {}", kind.name));
}

}  // namespace tandem::index
