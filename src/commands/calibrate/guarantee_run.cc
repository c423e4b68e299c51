// The work of `tandem calibrate --guarantee`: retrieves with the model, chooses thresholds that
// promise something, and writes them into tandem.json.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "commands/calibrate/calibrate_command.h"
#include "commands/guarantees/guarantee_basis.h"
#include "commands/guarantees/guarantee_output.h"
#include "commands/guarantees/guarantee_study.h"
#include "commands/guarantees/judged_rows.h"
#include "commands/guarantees/query_groups.h"
#include "commands/guarantees/unanswerable.h"
#include "commands/model/load_model.h"
#include "commands/until_stopped.h"
#include "data/judgements/judged_data.h"
#include "search/retrieval/retrieve.h"
#include "search/scoring/score_samples.h"
#include "weights/folders/tandem_file.h"

namespace tandem::app {
namespace {

search::RetrieveOptions RetrieveOptionsOf(const CalibrateOptions& options) {
  return {.top_k = kGuaranteeDepth,
          .relevance_level = options.relevance_level,
          .encode = BulkOptions(options.globals),
          .embeddings = options.embeddings,
          .cache = CacheUnless(options.no_cache)};
}

// A promise of precision counts a query that gets nothing as one with nothing wrong.
void WarnOfPrecision(const weights::Guarantee& guarantee) {
  if (guarantee.promise.kind != eval::PromiseKind::kPrecision || guarantee.nothing == 1) return;
  const double of_shown = guarantee.loss / (1 - guarantee.nothing);
  if (of_shown <= guarantee.promise.risk()) return;
  Warn(
      fmt::format("{}: {:.1f} % of the queries get nothing, which counts as nothing wrong; of what "
                  "the others are shown {:.1f} % is wrong",
                  guarantee.Name(), 100 * guarantee.nothing, 100 * of_shown));
}

void RemarkOnStudy(const GuaranteeStudy& study) {
  if (study.without_positive > 0) {
    Note(fmt::format("queries without a positive, left out of recall: {}", study.without_positive));
  }
  if (study.without_group > 0) {
    Warn(fmt::format("queries that lack the field, left out: {}", study.without_group));
  }
  for (const StudiedGuarantee& one : study.guarantees) {
    if (one.promised) WarnOfPrecision(one.guarantee);
    if (one.promised && one.guarantee.nothing == 1) {
      Warn(
          fmt::format("{}: it is kept by showing nothing at all: too much is wrong at every "
                      "threshold that shows something, or there are too few queries to know",
                      one.guarantee.Name()));
    }
  }
}

// The promises that were made. Throws CheckFailed, so that nothing is written, where one is made
// for nobody.
std::vector<weights::Guarantee> MadePromises(const GuaranteeStudy& study) {
  std::vector<weights::Guarantee> made;
  std::map<std::string, std::string> missing;  // promise -> why
  for (const StudiedGuarantee& one : study.guarantees) {
    const std::string name = one.guarantee.promise.Name();
    if (!one.promised) missing.emplace(name, one.why);
  }
  for (const StudiedGuarantee& one : study.guarantees) {
    if (!one.promised) continue;
    made.push_back(one.guarantee);
    missing.erase(one.guarantee.promise.Name());
  }
  if (!missing.empty()) {
    const auto& [name, why] = *missing.begin();
    throw CheckFailed(fmt::format("guarantee {} cannot be given: {}", name, why));
  }
  return made;
}

// What was retrieved, and what it was retrieved from.
struct GuaranteeData {
  data::JudgedData judged;
  search::Retrieved retrieved;
  std::vector<double> unanswerable;
};

GuaranteeData Gather(model::DualEncoder& model, const CalibrateOptions& options) {
  GuaranteeData gathered{.judged = data::LoadJudgedData(options.dataset, options.split)};
  gathered.retrieved = search::Retrieve(model, gathered.judged.dataset, RetrieveOptionsOf(options));
  search::CountMissingPositives(gathered.judged.qrels, options.relevance_level,
                                gathered.retrieved.samples);
  if (!options.unanswerable.empty() && options.unanswerable != kHeldOut) {
    gathered.unanswerable =
        BestScoresOfFile(model, gathered.judged.dataset, options.relevance_level,
                         options.unanswerable, RetrieveOptionsOf(options));
  }
  return gathered;
}

}  // namespace

void RunCalibrateGuarantee(const CalibrateOptions& options,
                           const std::vector<eval::Promise>& promises) {
  std::map<std::string, std::string> groups;
  if (!options.by.empty()) groups = QueryGroups(options.dataset, options.by);
  const auto model = LoadModel(options.globals, options.model);
  const GuaranteeData gathered = UntilStopped(
      fmt::format("{} is as it was{}", options.model.model, KeptInCache(options.no_cache)), [&] {
        GuaranteeData found = Gather(*model, options);
        StopIfAsked();
        return found;
      });
  const JudgedRows rows = MakeJudgedRows(gathered.retrieved, gathered.judged.qrels,
                                         {.relevance_level = options.relevance_level,
                                          .corpus = gathered.judged.dataset.documents.size(),
                                          .depth = options.depth.value_or(0)});
  GuaranteeStudyInputs inputs{.judged = rows,
                              .promises = promises,
                              .similarity = model->similarity(),
                              .depth = options.depth.value_or(0),
                              .judged_only = options.judged_only,
                              .unanswerable = UnanswerableName(options.unanswerable),
                              .best_of_unanswerable = options.unanswerable == kHeldOut
                                                          ? rows.best_without_answer
                                                          : gathered.unanswerable,
                              .by = options.by};
  for (const eval::GuaranteeRow& row : rows.rows) {
    if (options.by.empty()) break;
    const auto group = groups.find(std::string(row.query));
    inputs.groups.push_back(group == groups.end() ? std::nullopt : std::optional(group->second));
  }
  const GuaranteeStudy study = StudyGuarantees(inputs);
  weights::GuaranteeBasis basis = BasisOfModel(*model, options.globals);
  basis.relevance_level = options.relevance_level;
  AddData(gathered.judged, options.dataset, options.split, &basis);
  std::cout << FormatGuarantees(study, basis, options.format, OutputStyle());
  RemarkOnStudy(study);
  std::vector<weights::Guarantee> made = MadePromises(study);
  if (options.dry_run) {
    Note(fmt::format("{}: not changed (--dry-run)", options.model.model));
    return;
  }
  const bool replaces =
      weights::ReadGuarantees(weights::ModelFiles(options.model.model)).has_value();
  weights::WriteGuarantees(options.model.model,
                           weights::Guarantees{.basis = basis,
                                               .promises = std::move(made),
                                               .best_scores = KeptScores(rows.best_scores)});
  Note(fmt::format("{}/{}: guarantees written{}", options.model.model, weights::kTandemFile,
                   replaces ? ", in place of those that were there" : ""));
}

}  // namespace tandem::app
