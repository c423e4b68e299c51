// Several data sets as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

// The place of one data set's texts in the union of all.
struct UnionPart {
  uint32_t first_query = 0, queries = 0;
  uint32_t first_document = 0, documents = 0;
};

// Puts data sets one after the other. Nothing of different ones is ever the same: the ids of the
// second get "2:" in front, since two data sets may use one id for different texts. Texts that
// occur in several stay apart too, as copies, which masks know by their hashes. Only two splits of
// one data set share its texts.
class DatasetUnion {
 public:
  // Takes the texts and judgements of `part`, whose memory is free afterwards; JudgedQuery::source
  // is the number of parts before it. `texts_of`: the number of an earlier part that may have the
  // same texts; where it does, they are not taken again, and the part's ids are the earlier one's.
  // Throws std::length_error beyond 2^32 - 1 texts.
  void Add(Dataset part, std::optional<size_t> texts_of = std::nullopt);

  // The parts so far. A part that shares the texts of an earlier one has that one's place.
  const std::vector<UnionPart>& parts() const { return parts_; }
  // Says whether part `number` shares the texts of an earlier one.
  bool shares(size_t number) const { return shares_[number]; }

  // All of them. `file` names the first; it has grades where one of them has, and a query prompt
  // where all have the same. There is nothing left afterwards.
  Dataset Take();

 private:
  UnionPart Append(const Dataset& part);
  // Says whether part `number` of the union has exactly the texts of `part`, in their order.
  bool HasTextsOf(size_t number, const Dataset& part) const;

  Dataset all_;
  std::vector<UnionPart> parts_;
  std::vector<bool> shares_;
};

}  // namespace tandem::data
