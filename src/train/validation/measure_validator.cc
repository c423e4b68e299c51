#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "data/judgements/pool.h"
#include "eval/evaluate.h"
#include "search/retrieval/retrieve.h"
#include "search/scoring/score_samples.h"
#include "tensor/core/parallel.h"
#include "train/validation/encoding_time.h"
#include "train/validation/validator.h"

namespace tandem::train {
namespace {

// The number of results of a query that a measure without cut-off counts, as in `trec_eval -M1000`.
constexpr size_t kFullDepth = 1000;
// The number of texts that are encoded between two calls of ValidationProgress.
constexpr size_t kWindowTexts = 1024;

// Thrown out of the search when `progress` stops the validation.
struct ValidationStopped {};

std::vector<eval::Measure> MeasuresOf(const RankingMeasures& named) {
  std::vector<eval::Measure> measures = {eval::ParseMeasure(named.measure)};
  for (const std::string& name : named.report) measures.push_back(eval::ParseMeasure(name));
  return measures;
}

// Returns the judgements by the ids of queries and documents. Judgements of texts that are not
// there are not counted.
data::Qrels QrelsOf(const JudgedCorpus& corpus) {
  data::Qrels qrels;
  for (const data::JudgedQuery& query : corpus.judged) {
    for (const data::Judgement& judgement : query.judgements) {
      qrels.Add(corpus.queries->id(query.query), corpus.documents->id(judgement.document),
                judgement.grade);
    }
  }
  return qrels;
}

// Returns how many documents the queries have judgements of.
size_t JudgedDocuments(const JudgedCorpus& corpus) {
  std::unordered_set<uint32_t> documents;
  for (const data::JudgedQuery& query : corpus.judged) {
    for (const data::Judgement& judgement : query.judgements) documents.insert(judgement.document);
  }
  return documents.size();
}

class MeasureValidator final : public Validator {
 public:
  MeasureValidator(JudgedCorpus corpus, const RankingMeasures& measures,
                   const ValidatorOptions& options)
      : corpus_(std::move(corpus)),
        measures_(MeasuresOf(measures)),
        relevance_level_(measures.relevance_level),
        ignore_identical_ids_(measures.ignore_identical_ids),
        prompts_(options.prompts),
        encode_{.precision = options.precision,
                .threads = options.threads,
                .window_texts = kWindowTexts,
                .group = options.group} {
    if (corpus_.qrels == nullptr) judged_ = QrelsOf(corpus_);
    for (const eval::Measure& measure : measures_) CheckPositives(measure);
    if (measures.pool) {
      pool_ = data::DrawPool(*corpus_.documents, corpus_.judged, *measures.pool, measures.seed);
      Note(fmt::format("validation on {}{}{}", measures.source, measures.source.empty() ? "" : ": ",
                       data::PoolText(*pool_, *measures.pool)));
    }
    judged_documents_ = pool_ ? pool_->judged_documents : JudgedDocuments(corpus_);
    TellOfQueriesInCorpus();
  }

  std::optional<Validated> Measure(model::DualEncoder& model, const ObjectiveStates& /*states*/,
                                   const ValidationProgress& progress) override {
    try {
      return Evaluate(
          search::Retrieve(model, {documents(), *corpus_.queries, judged()}, OptionsFor(progress)));
    } catch (const ValidationStopped&) {
      return std::nullopt;
    }
  }

  // The longest documents of the first block go first (search/length_batches.h), so that two passes
  // of each thread have the memory of all.
  void TryBeginning(model::DualEncoder& model, const ObjectiveStates& /*states*/) override {
    const ValidationProgress ignored = [](double) { return true; };
    search::RetrieveOptions options = OptionsFor(ignored);
    std::atomic<bool> documents = false;  // the documents' turn has come
    std::atomic<int> passes = 0;
    const search::PromptSource prompt = options.document_prompt;
    options.document_prompt = [&](size_t i) {
      documents = true;
      return prompt(i);
    };
    const int enough = 2 * tensor::ThreadCount();
    options.encode.stop = [&] { return documents && ++passes > enough ? SIGINT : 0; };
    try {
      search::Retrieve(model, {this->documents(), *corpus_.queries, judged()}, options);
    } catch (const Interrupted&) {
      return;  // it has more documents than these passes
    }
  }

  double EstimateSeconds(model::DualEncoder& model, const ObjectiveStates& /*states*/) override {
    const ValidationProgress ignored = [](double) { return true; };
    const search::RetrieveOptions options = OptionsFor(ignored);
    search::EncodeOptions of_documents = options.encode, of_queries = options.encode;
    of_documents.prompt = options.document_prompt;
    of_queries.prompt = options.query_prompt;
    return EstimateEncoding(
               model, model::TextKind::kDocument, documents().size(),
               [this](size_t i) { return documents().text(i); }, of_documents) +
           EstimateEncoding(
               model, model::TextKind::kQuery, judged().size(),
               [this](size_t i) { return corpus_.queries->text(judged()[i].query); }, of_queries);
  }

  std::string name() const override { return measures_.front().name(); }
  bool Better(double value, double other) const override { return value > other; }
  RankedCorpus ranked() const override {
    return {documents().size(), corpus_.documents->size(), judged_documents_};
  }
  size_t queries() const override { return judged().size(); }

 private:
  const data::Texts& documents() const { return pool_ ? pool_->documents : *corpus_.documents; }
  std::span<const data::JudgedQuery> judged() const {
    return pool_ ? pool_->judged : corpus_.judged;
  }

  // Warns of queries that are documents of the corpus: a query that is ranked as a document takes
  // the first place from the documents that answer it.
  void TellOfQueriesInCorpus() const {
    const search::QueriesInCorpus count =
        search::CountQueriesInCorpus({documents(), *corpus_.queries, judged()});
    if (count.by_id > 0 && ignore_identical_ids_) {
      Note(
          fmt::format("validation leaves the document with a query's own id out of its ranking, "
                      "for {} of {} queries (validation.ignore_identical_ids)",
                      count.by_id, judged().size()));
    } else if (count.by_id > 0) {
      Warn(
          fmt::format("validation ranks a document with the query's own id for {} of {} queries; "
                      "where it is the query itself, validation.ignore_identical_ids = true leaves "
                      "it out, as BEIR does",
                      count.by_id, judged().size()));
    }
    if (count.by_text == 0) return;
    Note(
        fmt::format("for {} of {} validation queries a document has the query's own text, under "
                    "another id; it is ranked as all others are, mostly first, which lowers the "
                    "measure, at all steps alike, where it is not the answer: take such documents "
                    "out of the validation's corpus then, and judge them where they are the answer",
                    count.by_text, judged().size()));
  }

  // Throws DataError if no query has a document that counts for the measure, which would then be 0
  // for every model. Any grade above 0 counts if grades are gains; else the relevance level
  // decides.
  void CheckPositives(const eval::Measure& measure) const {
    for (const data::JudgedQuery& query : corpus_.judged) {
      for (const data::Judgement& judgement : query.judgements) {
        if (measure.Counts(judgement.grade, relevance_level_)) return;
      }
    }
    throw DataError("validation data", 0, "",
                    fmt::format("none of its {} judged queries has a document of grade {}, so "
                                "that {} would always be 0",
                                corpus_.judged.size(), LowestGrade(measure), measure.name()));
  }

  // Returns the lowest grade that counts for the measure, in words.
  std::string LowestGrade(const eval::Measure& measure) const {
    if (measure.info->grades == eval::GradeUse::kGains) return "above 0";
    if (measure.info->grades == eval::GradeUse::kJudgement) return "0 or more";
    if (measure.relevance_level) return fmt::format("{} or more", *measure.relevance_level);
    return fmt::format("{} or more (data.positive_grade)", relevance_level_);
  }

  bool NeedsSamples() const {
    return std::any_of(measures_.begin(), measures_.end(), [](const eval::Measure& measure) {
      return measure.info->kind != eval::MeasureKind::kRanking;
    });
  }

  // Returns the number of results of each query that the measures need. An AUC does not count here,
  // because it uses its own samples.
  size_t Depth() const {
    size_t depth = 1;
    for (const eval::Measure& measure : measures_) {
      if (measure.info->kind != eval::MeasureKind::kRanking) continue;
      const size_t cut_off = measure.cut_off;
      depth = std::max(depth, cut_off == eval::kAllResults ? kFullDepth : cut_off);
    }
    return depth;
  }

  search::RetrieveOptions OptionsFor(const ValidationProgress& progress) const {
    return {.top_k = Depth(),
            .relevance_level = NeedsSamples() ? relevance_level_ : 0,
            .encode = encode_,
            .query_prompt = [this](size_t i) { return prompts_.queries.Of(judged()[i].query); },
            .document_prompt =
                [this](size_t i) { return prompts_.documents.Of(pool_ ? pool_->of_corpus[i] : i); },
            .ignore_identical_ids = ignore_identical_ids_,
            .report = false,
            .progress =
                [&progress](double share) {
                  if (!progress(share)) throw ValidationStopped();
                }};
  }

  const data::Qrels& AllJudgements() const {
    return corpus_.qrels != nullptr ? *corpus_.qrels : judged_;
  }

  // Returns the measures' means over the judged queries, as trec_eval -c computes them; 0 if no
  // query has a value.
  Validated Evaluate(search::Retrieved found) const {
    if (NeedsSamples()) {
      search::CountMissingPositives(AllJudgements(), relevance_level_, found.samples);
    }
    const eval::Evaluation evaluation =
        eval::EvaluateRun(found.run, AllJudgements(), measures_,
                          {.ranking = {.relevance_level = relevance_level_},
                           .complete = true,
                           .threads = encode_.threads,
                           .samples = found.samples});
    Validated validated{.value = evaluation.measures.front().mean.value_or(0)};
    for (size_t m = 1; m < measures_.size(); ++m) {
      validated.further.push_back({measures_[m].name(), evaluation.measures[m].mean.value_or(0)});
    }
    const std::vector<std::optional<double>>& values = evaluation.measures.front().per_query;
    for (size_t q = 0; q < values.size(); ++q) {
      if (values[q]) validated.queries.push_back({evaluation.queries[q], *values[q]});
    }
    return validated;
  }

  JudgedCorpus corpus_;
  std::vector<eval::Measure> measures_;  // the first decides which model is best
  double relevance_level_;
  bool ignore_identical_ids_;
  RunPrompts prompts_;
  search::EncodeOptions encode_;
  data::Qrels judged_;              // corpus_.judged by ids; empty if there is corpus_.qrels
  std::optional<data::Pool> pool_;  // none: the whole corpus is ranked
  size_t judged_documents_ = 0;     // of documents()
};

}  // namespace

std::unique_ptr<Validator> MakeMeasureValidator(JudgedCorpus corpus,
                                                const RankingMeasures& measures,
                                                const ValidatorOptions& options) {
  return std::make_unique<MeasureValidator>(std::move(corpus), measures, options);
}

}  // namespace tandem::train
