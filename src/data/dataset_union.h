// Several data sets as one.
#pragma once

#include <cstddef>
#include <string>

#include "data/dataset.h"

namespace tandem::data {

// Puts data sets one behind the other. Nothing of different ones is ever the same: the ids of the
// second get "2:" in front, since two data sets may use one id for different texts. Texts that
// occur in several stay apart too, as copies, which masks know by their hashes.
class DatasetUnion {
 public:
  // Takes the texts and judgements of `part`, whose memory is free afterwards. Throws DataError
  // where its queries have another prompt than those before: a model has one. Throws
  // std::length_error beyond 2^32 - 1 texts.
  void Add(Dataset part);

  // All of them. `file` names the first; it has grades where one of them has. There is nothing left
  // afterwards.
  Dataset Take();

 private:
  // Appends `part` to `all` and returns the number of its first text.
  uint32_t Append(const Texts& part, Texts& all) const;

  Dataset all_;
  size_t parts_ = 0;
};

}  // namespace tandem::data
