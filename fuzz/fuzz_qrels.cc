// TREC and BEIR judgements (data/formats/qrels_file.h).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "data/formats/qrels_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem::data;
  Warnings warnings;
  LineReader reader("f", {reinterpret_cast<const char*>(bytes), size}, warnings);
  try {
    const Qrels qrels = ReadQrels(reader);
    size_t count = 0;
    for (const QueryJudgements& query : qrels.queries()) {
      if (qrels.Find(query.query) != &query) std::abort();
      for (const GradedDocument& judgement : query.judgements) {
        if (!std::isfinite(judgement.grade)) std::abort();
      }
      count += query.judgements.size();
    }
    if (count != qrels.judgement_count() || count == 0) std::abort();
  } catch (const tandem::Error&) {
  }
  return 0;
}
