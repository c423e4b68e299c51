#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "eval/evaluate.h"
#include "search/retrieve.h"
#include "search/score_samples.h"
#include "train/validator.h"

namespace tandem::train {
namespace {

// The results of a query that a measure without cut-off counts, as in `trec_eval -M1000`.
constexpr size_t kFullDepth = 1000;
// Texts that are encoded between two calls of ValidationProgress.
constexpr size_t kWindowTexts = 1024;

// `progress` has stopped the validation; thrown out of the encoder's callback.
struct Stopped {};

class MeasureValidator final : public Validator {
 public:
  MeasureValidator(JudgedCorpus corpus, const std::string& measure, double relevance_level,
                   const ValidatorOptions& options)
      : corpus_(std::move(corpus)),
        measures_{eval::ParseMeasure(measure)},
        relevance_level_(relevance_level),
        prompts_(options.prompts),
        encode_{.precision = options.precision,
                .threads = options.threads,
                .window_texts = kWindowTexts} {
    for (const data::JudgedQuery& query : corpus_.judged) {
      if (corpus_.qrels != nullptr) continue;
      for (const data::Judgement& judgement : query.judgements) {
        judged_.Add(corpus_.queries->id(query.query), corpus_.documents->id(judgement.document),
                    judgement.grade);
      }
    }
    CheckPositives();
  }

  std::optional<double> Measure(model::DualEncoder& model, const ObjectiveStates& /*states*/,
                                const ValidationProgress& progress) override {
    try {
      return MeanOf(search::Retrieve(model, {*corpus_.documents, *corpus_.queries, corpus_.judged},
                                     OptionsFor(progress)));
    } catch (const Stopped&) {
      return std::nullopt;
    }
  }

  std::string name() const override { return measures_.front().name(); }
  bool Better(double value, double other) const override { return value > other; }

 private:
  // Throws DataError where no query has a document that counts for the measure, which would then be
  // 0 for every model. Any grade above 0 counts where grades are gains; else the relevance level.
  void CheckPositives() const {
    const eval::Measure& measure = measures_.front();
    for (const data::JudgedQuery& query : corpus_.judged) {
      for (const data::Judgement& judgement : query.judgements) {
        if (measure.Counts(judgement.grade, relevance_level_)) return;
      }
    }
    throw DataError("validation data", 0, "",
                    fmt::format("none of its {} judged queries has a document of grade {}, so "
                                "that {} would always be 0",
                                corpus_.judged.size(), LowestGrade(measure), name()));
  }

  // The lowest grade that counts for the measure, in words.
  std::string LowestGrade(const eval::Measure& measure) const {
    if (measure.info->grades == eval::GradeUse::kGains) return "above 0";
    if (measure.info->grades == eval::GradeUse::kJudgement) return "0 or more";
    if (measure.relevance_level) return fmt::format("{} or more", *measure.relevance_level);
    return fmt::format("{} or more (data.positive_grade)", relevance_level_);
  }

  bool NeedsSamples() const { return measures_.front().info->kind != eval::MeasureKind::kRanking; }

  // The results of a query that the measure looks at; an AUC takes its samples beside them.
  size_t Depth() const {
    if (NeedsSamples()) return 1;
    const size_t cut_off = measures_.front().cut_off;
    return cut_off == eval::kAllResults ? kFullDepth : cut_off;
  }

  search::RetrieveOptions OptionsFor(const ValidationProgress& progress) const {
    return {
        .top_k = Depth(),
        .relevance_level = NeedsSamples() ? relevance_level_ : 0,
        .encode = encode_,
        .query_prompt = [this](size_t i) { return prompts_.queries.Of(corpus_.judged[i].query); },
        .document_prompt = [this](size_t i) { return prompts_.documents.Of(i); },
        .report = false,
        .progress =
            [&progress](double share) {
              if (!progress(share)) throw Stopped();
            }};
  }

  const data::Qrels& AllJudgements() const {
    return corpus_.qrels != nullptr ? *corpus_.qrels : judged_;
  }

  // The measure's mean over the judged queries, as trec_eval -c takes it; 0 where no query has a
  // value.
  double MeanOf(search::Retrieved found) const {
    if (NeedsSamples()) {
      search::CountMissingPositives(AllJudgements(), relevance_level_, found.samples);
    }
    const eval::Evaluation evaluation =
        eval::EvaluateRun(found.run, AllJudgements(), measures_,
                          {.ranking = {.relevance_level = relevance_level_},
                           .complete = true,
                           .threads = encode_.threads,
                           .samples = found.samples});
    return evaluation.measures.front().mean.value_or(0);
  }

  JudgedCorpus corpus_;
  std::vector<eval::Measure> measures_;
  double relevance_level_;
  RunPrompts prompts_;
  search::EncodeOptions encode_;
  data::Qrels judged_;  // corpus_.judged; empty where there is corpus_.qrels
};

}  // namespace

std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus, const std::string& measure,
                                                double relevance_level,
                                                const ValidatorOptions& options) {
  return std::make_unique<MeasureValidator>(std::move(corpus), measure, relevance_level, options);
}

}  // namespace tandem::train
