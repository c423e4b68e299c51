#include "data/dataset.h"

namespace tandem::data {

Qrels QrelsOf(const Dataset& dataset) {
  Qrels qrels;
  for (const JudgedQuery& judged : dataset.judged) {
    for (const Judgement& judgement : judged.judgements) {
      qrels.Add(dataset.queries.id(judged.query), dataset.documents.id(judgement.document),
                judgement.grade);
    }
  }
  return qrels;
}

}  // namespace tandem::data
