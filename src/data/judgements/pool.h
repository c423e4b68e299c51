// A part of a corpus on which evaluation costs less: everything that is judged, and some of the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/texts/texts.h"

namespace tandem::data {

struct Pool {
  Texts documents;                  // in the order of the corpus
  std::vector<uint32_t> of_corpus;  // [documents]: their numbers in the corpus, ascending
  std::vector<JudgedQuery> judged;  // as given, with the numbers of `documents`
  size_t corpus = 0;                // documents of the corpus
  size_t judged_documents = 0;      // documents that any of the queries has a judgement of

  bool is_whole() const { return documents.size() == corpus; }
};

// Takes every document that one of `judged` has a judgement of, whatever the grade, and others at
// random until there are `size`. Which ones are drawn depends on `seed` and the ids alone, not on
// the order of the corpus: each id has a random number of stream (seed, "pool", hash of the id),
// and the smallest numbers are taken, so that a smaller pool of the same queries is a part of a
// larger one. Where `size` is below the number of judged documents, there are only these; from the
// size of the corpus on it is the whole corpus, which is then shared and not copied.
Pool DrawPool(const Texts& documents, std::span<const JudgedQuery> judged, size_t size,
              uint64_t seed);

// "a pool of 5000 of 15809 documents (830 of them judged)"; "all 940 documents: ...", "... the
// judged ones alone, ..." where `size` was beyond what there is.
std::string PoolText(const Pool& pool, size_t size);

}  // namespace tandem::data
