#include "commands/report/model_record.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/log.h"
#include "commands/calibrate/calibration_study.h"
#include "commands/evaluate/model_thresholds.h"
#include "commands/judged_set.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/report/record_parts.h"
#include "eval/ranked_depth.h"
#include "report/records/same_data.h"
#include "search/retrieval/retrieve.h"
#include "search/retrieval/view_rows.h"
#include "search/scoring/score_samples.h"
#include "tensor/machine/precision.h"

namespace tandem::app {
namespace {

constexpr const char* kMeasures =
    "ndcg@10,mrr@10,map,recall@10,recall@100,auc,auc_per_query,partial_auc,pool_ap";
constexpr const char* kTargets = "precision=0.9,precision=0.5,recall=0.9,fpr=0.01,results=5";

int64_t WeightsOf(model::DualEncoder& model) {
  int64_t weights = 0;
  for (const model::NamedParameter& parameter : model.Parameters()) {
    weights += parameter.value.numel();
  }
  return weights;
}

// Makes the parts of the record of one model on one set.
class Recorder {
 public:
  Recorder(const Globals& globals, const ModelFlags& flags, const RecordedSet& set)
      : globals_(globals),
        flags_(flags),
        set_(set),
        model_(LoadModel(globals, flags)),
        data_(LoadJudgedSet(set.folder, set.split, set.by_document)),
        judged_(data_.judged) {
    data_.AddTexts();
    if (judged_.dataset.documents.size() < 2) {
      throw DataError(set.folder, 0, "",
                      "the corpus has one document, so that every ranking of it is the same; "
                      "a report needs at least two");
    }
  }

  report::EvaluationRecord Record(const std::string& name) {
    Rank();
    report::EvaluationRecord record{
        .model = {.name = name,
                  .folder = FolderName(flags_.model),
                  .parameters = WeightsOf(*model_),
                  .precision = std::string(tensor::PrecisionName(BulkOptions(globals_).precision))},
        .dataset = {.name = FolderName(set_.folder) +
                            std::string(set_.by_document ? report::kByDocument : ""),
                    .split = set_.split,
                    .documents = static_cast<int64_t>(judged_.dataset.documents.size()),
                    .queries = static_cast<int64_t>(evaluation_.queries.size()),
                    .relevance_level = set_.relevance_level,
                    .fingerprint = fmt::format("{:016x}", Fingerprint())},
        .query_ids = evaluation_.queries};
    const eval::ScoreLevels pool = eval::PoolLevels(retrieved_.samples);
    record.measures = MeasureResultsOf(evaluation_, pool, Resampling());
    AddScores(pool, record);
    if (!set_.by_document) record.views = Views();
    record.cases = CasesOf(evaluation_, {.run = retrieved_.run,
                                         .qrels = judged_.qrels,
                                         .dataset = judged_.dataset,
                                         .ranking = ranking_});
    return record;
  }

 private:
  uint64_t Fingerprint() const {
    return data::Fingerprint(judged_, set_.by_document ? &data_.groups.passages : nullptr);
  }

  eval::BootstrapOptions Resampling() const {
    return {.seed = SeedOf(globals_), .resamples = 2000, .threads = ThreadsOf(globals_)};
  }

  void Rank() {
    ranking_ = {.relevance_level = set_.relevance_level};
    retrieved_ = search::Retrieve(*model_, data_.Task(),
                                  {.top_k = eval::RankedDepth(eval::ParseMeasures(kMeasures)),
                                   .relevance_level = set_.relevance_level,
                                   .encode = BulkOptions(globals_),
                                   .cache = CacheFolder(),
                                   .keep = set_.by_document ? nullptr : &rows_});
    search::CountMissingPositives(judged_.qrels, set_.relevance_level, retrieved_.samples);
    evaluation_ = eval::EvaluateRun(retrieved_.run, judged_.qrels, eval::ParseMeasures(kMeasures),
                                    {.ranking = ranking_,
                                     .complete = true,
                                     .threads = ThreadsOf(globals_),
                                     .samples = retrieved_.samples});
  }

  // Adds curves, histograms and calibrations, if both positives and other documents have scores.
  void AddScores(const eval::ScoreLevels& pool, report::EvaluationRecord& record) const {
    if (!eval::FiguresOf(pool).auc) return;
    std::vector<eval::ChosenThreshold> thresholds;
    if (!set_.by_document) {
      thresholds = ThresholdsOfModel(retrieved_.samples, rows_,
                                     {.targets = eval::ParseTargets(kTargets),
                                      .seed = SeedOf(globals_),
                                      .threads = ThreadsOf(globals_)})
                       .thresholds;
    }
    record.roc = RocFactsOf(pool, thresholds);
    record.scores = ScoreHistogramsOf(retrieved_.samples);
    try {
      record.calibration = CalibrationFactsOf(StudyCalibrations(
          {.samples = retrieved_.samples,
           .before = CalibrationOf(*model_, flags_),
           .similarity = model_->similarity(),
           .data = fmt::format("{}, split {}", FolderName(set_.folder), set_.split)}));
    } catch (const DataError& error) {
      Warn(fmt::format("no calibration in the report: {}", error.what()));
    }
  }

  report::ViewFacts Views() {
    const eval::BootstrapOptions seeded = Resampling();
    const eval::ViewOptions options{.seed = seeded.seed, .threads = ThreadsOf(globals_)};
    const search::ViewEmbeddings embeddings =
        search::EncodeForViews(*model_, judged_.dataset, retrieved_.run,
                               {.relevance_level = set_.relevance_level,
                                .most_queries = options.most_pairs,
                                .seed = seeded.seed,
                                .encode = BulkOptions(globals_),
                                .cache = CacheFolder()});
    return ViewFactsOf(eval::MakeEmbeddingViews(embeddings.rows(), options));
  }

  const Globals& globals_;
  ModelFlags flags_;
  RecordedSet set_;
  std::unique_ptr<model::DualEncoder> model_;
  JudgedSet data_;
  const data::JudgedData& judged_;
  eval::RankingOptions ranking_;
  search::SearchedRows rows_;
  search::Retrieved retrieved_;
  eval::Evaluation evaluation_;
};

}  // namespace

report::EvaluationRecord RecordModel(const Globals& globals, const ModelFlags& flags,
                                     const std::string& name, const RecordedSet& set) {
  return Recorder(globals, flags, set).Record(name);
}

}  // namespace tandem::app
