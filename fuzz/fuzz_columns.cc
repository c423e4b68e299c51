// sentence-transformers columns (data/sentence_transformers.h) and the training set made of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "data/sentence_transformers.h"
#include "data/training_set.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem::data;
  Warnings warnings;
  LineReader reader("f", {reinterpret_cast<const char*>(bytes), size}, warnings);
  try {
    const TrainingSet set = BuildTrainingSet(ReadColumns(reader), 1, &warnings);
    // Every line has a positive, so no query is left out.
    if (set.queries_without_positive != 0 || set.examples.size() != set.queries.size()) {
      std::abort();
    }
  } catch (const tandem::Error&) {
  }
  return 0;
}
