// Documents that a search found, and the order in which they rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/texts/texts.h"

namespace tandem::search {

struct Hit {
  uint32_t document = 0;
  float score = 0;
};

// Better hits first: higher scores, and among equal scores ids descending in bytes, as trec_eval
// breaks ties.
//
//   std::sort(hits.begin(), hits.end(), HitOrder(documents));
class HitOrder {
 public:
  // `documents` must outlive the order. Where hits name rows of a search and not documents,
  // document_of_row[row] is the document whose id breaks ties.
  explicit HitOrder(const data::Texts& documents, std::span<const uint32_t> document_of_row = {})
      : documents_(&documents), document_of_row_(document_of_row) {}

  bool operator()(const Hit& a, const Hit& b) const {
    return a.score != b.score ? a.score > b.score : Id(a) > Id(b);
  }

 private:
  std::string_view Id(const Hit& hit) const {
    return documents_->id(document_of_row_.empty() ? hit.document : document_of_row_[hit.document]);
  }

  const data::Texts* documents_;
  std::span<const uint32_t> document_of_row_;
};

}  // namespace tandem::search
