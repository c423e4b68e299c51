// TREC runs (data/formats/trec_run.h), evaluated by every measure against judgements made of their
// own ids.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "data/formats/trec_run.h"
#include "eval/evaluate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem;
  data::Warnings warnings;
  data::LineReader reader("f", {reinterpret_cast<const char*>(bytes), size}, warnings);
  static const std::vector<eval::Measure> measures = eval::ParseMeasures(
      "ndcg,ndcg@2,ndcg_exp,ndcg_exp@2,map,map@2,map(rel=2),mrr,mrr@2,recall@2,precision@2,"
      "success@2,rprec,bpref,bpref(rel=3),rbp,rbp(p=0.5,rel=2)@2,judged,judged@2,f1@0,f1(rel=2)@1,"
      "auc,auc_per_query");
  try {
    const data::Run run = data::ReadTrecRun(reader);
    data::Qrels qrels;
    double grade = -1;
    for (const data::QueryResults& query : run.queries()) {
      for (const data::ScoredDocument& result : query.results) {
        qrels.Add(query.query, result.document, grade);
        grade = grade >= 3 ? -1 : grade + 1;
      }
    }
    const eval::Evaluation evaluation = eval::EvaluateRun(run, qrels, measures, {});
    for (const eval::MeasureValues& values : evaluation.measures) {
      if (values.mean && !(*values.mean >= 0 && *values.mean <= 1)) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
