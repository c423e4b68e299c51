// Uses the installed rooms `data` and `eval`: one query whose positive ranks second has MRR 1/2.
#include <cstdio>
#include <vector>

#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/measure.h"

int main() {
  tandem::data::Qrels qrels;
  qrels.Add("query", "good", 1);
  tandem::data::Run run;
  run.AddQuery("query").results = {{"bad", 0.9}, {"good", 0.8}};
  const std::vector<tandem::eval::Measure> measures = tandem::eval::ParseMeasures("mrr");
  const tandem::eval::Evaluation evaluation = tandem::eval::EvaluateRun(run, qrels, measures, {});
  const double mrr = evaluation.measures.front().mean.value_or(-1);
  std::printf("mrr %g\n", mrr);
  return mrr == 0.5 ? 0 : 1;
}
