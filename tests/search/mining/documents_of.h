#pragma once

#include <cstdint>
#include <vector>

#include "search/retrieval/hits.h"

namespace tandem::search {

inline std::vector<uint32_t> Documents(const std::vector<Hit>& hits) {
  std::vector<uint32_t> documents;
  for (const Hit& hit : hits) documents.push_back(hit.document);
  return documents;
}

}  // namespace tandem::search
