#include "train/inputs/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "base/random.h"
#include "config/recipe/recipe_fields.h"
#include "data/formats/beir.h"
#include "data/judgements/judged_data.h"
#include "data/read_dataset.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/read_sources.h"
#include "train/inputs/validation_sources.h"

namespace tandem::train {
namespace {

void Add(RunningHash& fingerprint, const data::Texts& texts) {
  const auto hashes = texts.hashes();
  for (size_t i = 0; i < texts.size(); ++i) {
    fingerprint.Add(texts.id(i));
    fingerprint.Add((*hashes)[i]);
  }
}

void Add(RunningHash& fingerprint, std::span<const data::Judgement> judgements) {
  fingerprint.Add(uint64_t{judgements.size()});
  for (const data::Judgement& judgement : judgements) {
    fingerprint.Add(uint64_t{judgement.document});
    fingerprint.Add(judgement.grade);
    if (judgement.has_score()) fingerprint.Add(judgement.score);
  }
}

// Adds all judgements to the fingerprint if some of them name queries or documents that are
// missing.
void AddMissing(RunningHash& fingerprint, const data::Dataset& dataset, const data::Qrels& qrels) {
  size_t there = 0;
  for (const data::JudgedQuery& query : dataset.judged) there += query.judgements.size();
  if (there == qrels.judgement_count()) return;
  for (const data::QueryJudgements& query : qrels.queries()) {
    fingerprint.Add(query.query);
    for (const data::GradedDocument& judged : query.judgements) {
      fingerprint.Add(judged.document);
      fingerprint.Add(judged.grade);
    }
  }
}

void AddValidation(RunningHash& fingerprint, const data::Dataset& dataset,
                   const std::optional<data::Qrels>& qrels) {
  if (qrels) AddMissing(fingerprint, dataset, *qrels);
  Add(fingerprint, dataset.queries);
  Add(fingerprint, dataset.documents);
  for (const data::JudgedQuery& query : dataset.judged) {
    fingerprint.Add(uint64_t{query.query});
    Add(fingerprint, query.judgements);
  }
}

uint64_t FingerprintOf(const RunData& data) {
  RunningHash fingerprint;
  Add(fingerprint, data.set.queries);
  Add(fingerprint, data.set.documents);
  for (const data::TrainingQuery& query : data.set.examples) {
    fingerprint.Add(uint64_t{query.query});
    Add(fingerprint, query.positives);
    Add(fingerprint, query.others);
  }
  if (data.validation) AddValidation(fingerprint, *data.validation, data.validation_qrels);
  for (const ValidationSource& source : data.validation_sources) {
    AddValidation(fingerprint, source.dataset, source.qrels);
  }
  return fingerprint.value();
}

// Splits data.set.examples into training and held_out; both keep the file order.
void HoldOut(const config::LoadedRecipe& loaded, RunData& data) {
  const config::Recipe& recipe = loaded.recipe;
  const auto total = static_cast<uint32_t>(data.set.examples.size());
  const auto hash_of = [&data](uint32_t e) {
    return data.set.query_hashes[data.set.examples[e].query];
  };
  const int64_t wanted = recipe.validation.holdout->Of(total);
  std::vector<uint32_t> order(total);
  std::iota(order.begin(), order.end(), 0);
  RandomStream({static_cast<uint64_t>(recipe.seed), "holdout"}).Shuffle(std::span(order));
  std::unordered_set<uint64_t> held;  // query texts
  for (int64_t i = 0; i < std::min<int64_t>(wanted, total); ++i) held.insert(hash_of(order[i]));
  data.training.clear();
  for (uint32_t e = 0; e < total; ++e) {
    (held.contains(hash_of(e)) ? data.held_out : data.training).push_back(e);
  }
  if (data.training.empty() || data.held_out.empty()) {
    throw loaded.ErrorAt(
        "validation.holdout",
        fmt::format("leaves {} of {} queries for validation and {} for training; both need one",
                    data.held_out.size(), total, data.training.size()));
  }
}

// Throws DataError if the validation data's prompt differs from that of the training data, which
// validation queries get too unless the recipe gives them another by `key`.
void CheckSamePrompt(const data::Dataset& validation, const std::optional<std::string>& given,
                     const std::string& prompt, std::string_view key) {
  if (validation.query_prompt.empty() || validation.query_prompt == prompt) return;
  if (given) return;
  throw DataError(
      validation.file, 0, "",
      fmt::format("its queries have the prompt \"{}\", those of the training data \"{}\"; a model "
                  "has one query prompt. {} says which one they get",
                  validation.query_prompt, prompt, key));
}

bool IsSameFolder(const std::string& one, const std::string& other) {
  std::error_code error;
  return std::filesystem::is_directory(one, error) &&
         std::filesystem::equivalent(one, other, error);
}

// Reads `validation.data`. If it is the folder of `data.train`, which must be in BEIR format, only
// its judgements are read and the texts are shared. A measure also counts judgements of missing
// texts; a loss does not, because it needs the texts.
void ReadValidation(const config::LoadedRecipe& loaded, RunData& data) {
  const config::Recipe& recipe = loaded.recipe;
  const data::LineRules rules = LineRulesOf(loaded);
  const std::string& path = *recipe.validation.data;
  const std::string& split = recipe.validation.split;
  const data::BeirTexts shared{data.set.documents, data.set.queries};
  const bool is_same = recipe.data.sources.empty() && IsSameFolder(path, recipe.data.train);
  if (recipe.validation.by_loss()) {
    data.validation = is_same ? data::LoadBeirSplit(path, split, shared)
                              : data::ReadDataset(path, "auto", split, rules);
  } else if (std::error_code error; std::filesystem::is_directory(path, error)) {
    data::JudgedData judged = data::LoadJudgedData(path, split, is_same ? &shared : nullptr);
    data.validation = std::move(judged.dataset);
    data.validation_qrels = std::move(judged.qrels);
  } else {
    data.validation = data::ReadDataset(path, "auto", split, rules);
  }
}

}  // namespace

namespace {

JudgedCorpus CorpusOf(const data::Dataset& dataset, const std::optional<data::Qrels>& qrels) {
  return {.documents = &dataset.documents,
          .queries = &dataset.queries,
          .judged = dataset.judged,
          .qrels = qrels ? &*qrels : nullptr};
}

}  // namespace

JudgedCorpus ValidationSource::Corpus() const { return CorpusOf(dataset, qrels); }

JudgedCorpus RunData::ValidationCorpus() const {
  if (validation) return CorpusOf(*validation, validation_qrels);
  JudgedCorpus corpus{.documents = &set.documents, .queries = &set.queries};
  for (const uint32_t e : held_out) {
    const data::TrainingQuery& example = set.examples[e];
    data::JudgedQuery query{.query = example.query, .judgements = example.positives};
    query.judgements.insert(query.judgements.end(), example.others.begin(), example.others.end());
    corpus.judged.push_back(std::move(query));
  }
  return corpus;
}

double RunData::RelevanceLevel(const config::DataRecipe& recipe) const {
  const bool own = validation || !validation_sources.empty();
  return own ? recipe.positive_grade : set.positive_grade;
}

namespace {

void ReadOne(const config::LoadedRecipe& loaded, const objective::Needs& needs, RunData& data) {
  const config::DataRecipe& recipe = loaded.recipe.data;
  data::Dataset train =
      data::ReadDataset(recipe.train, recipe.format, recipe.split, LineRulesOf(loaded));
  UseScores(train, loaded, needs);
  data.query_prompt = train.query_prompt;
  data.set = MakeTrainingSet(std::move(train), loaded, needs);
  data.sources = {{.path = recipe.train}};
}

}  // namespace

namespace {

// Leaves documents with the query's text out of the judged negatives of the training queries, and
// of the held-out queries if validation is by loss. An objective that learns teacher scores has no
// negatives: the teacher says how relevant the text is.
void TreatOwnTexts(const config::Recipe& recipe, const objective::Needs& needs, RunData& data) {
  if (!recipe.data.masks.query_text || needs.teacher) return;
  data.own_texts = LeaveOutOwnTexts(data.set, data.training);
  if (data.training.empty()) {
    throw DataError(data.set.file, 0, "",
                    "every training query has its own text as its only judged document, so that "
                    "there is nothing to learn from");
  }
  if (recipe.validation.by_loss()) LeaveOutOwnTexts(data.set, data.held_out);
}

}  // namespace

namespace {

// Applies `data.limit`: keeps the first of the training queries in an order drawn by the seed, so
// that a smaller limit's are among a larger one's. They stay in file order.
void LimitQueries(const config::Recipe& recipe, RunData& data) {
  if (!recipe.data.limit) return;
  const auto limit = static_cast<size_t>(*recipe.data.limit);
  const size_t total = data.training.size();
  if (limit >= total) {
    Note(fmt::format("data.limit is {}, but there are {} training queries: all are taken", limit,
                     total));
    return;
  }
  RandomStream({static_cast<uint64_t>(recipe.seed), "limit"}).Shuffle(std::span(data.training));
  data.training.resize(limit);
  std::sort(data.training.begin(), data.training.end());
  Note(fmt::format("data.limit leaves {} of {} training queries", limit, total));
}

}  // namespace

namespace {

// Reads `validation.data` or the sources, if there are any. Held-out queries come later.
void ReadValidationData(const config::LoadedRecipe& loaded, const objective::Needs& needs,
                        RunData& data) {
  const config::ValidationRecipe& recipe = loaded.recipe.validation;
  if (recipe.data) {
    ReadValidation(loaded, data);
    if (recipe.by_loss()) {
      UseScores(*data.validation, loaded, needs);
    } else {
      UseScoresOfRanked(*data.validation, loaded, needs);
    }
    CheckSamePrompt(*data.validation, recipe.query_prompt, data.query_prompt,
                    "validation.query_prompt");
  }
  data.validation_sources = ReadValidationSources(loaded, needs);
  for (size_t i = 0; i < recipe.sources.size(); ++i) {
    CheckSamePrompt(data.validation_sources[i].dataset, recipe.sources[i].query_prompt,
                    data.query_prompt, fmt::format("validation.source.{}.query_prompt", i + 1));
  }
}

}  // namespace

RunData ReadRunData(const config::LoadedRecipe& loaded, const objective::Needs& needs) {
  const config::Recipe& recipe = loaded.recipe;
  RunData data;
  if (recipe.data.sources.empty()) {
    ReadOne(loaded, needs, data);
  } else {
    ReadSources(loaded, needs, data);
  }
  if (data.set.documents.size() < 2) {
    throw DataError(recipe.data.paths().front(), 0, "",
                    "the corpus has one document, so that nothing can be a negative; training "
                    "needs at least two");
  }
  data.training.resize(data.set.examples.size());
  std::iota(data.training.begin(), data.training.end(), 0);
  ReadValidationData(loaded, needs, data);
  data.fingerprint = FingerprintOf(data);
  if (recipe.validation.holdout) HoldOut(loaded, data);
  data.training = StudyLabels(data.set, std::move(data.training), recipe);
  TreatOwnTexts(recipe, needs, data);
  LimitQueries(recipe, data);
  CheckEverySourceTrains(loaded, data);
  return data;
}

sampling::Examples MakeExamples(const data::TrainingSet& set, double positive_grade,
                                std::span<const uint32_t> which) {
  sampling::Examples examples = sampling::Examples::Sharing(positive_grade, set.documents.hashes());
  size_t count = 0;
  for (const uint32_t e : which) {
    const data::TrainingQuery& example = set.examples[e];
    count += example.positives.size() + example.others.size() + example.unused.size();
  }
  examples.Reserve(which.size(), count);
  std::vector<sampling::Judged> judged, unused;
  const auto append = [](const std::vector<data::Judgement>& from,
                         std::vector<sampling::Judged>& to) {
    for (const data::Judgement& one : from) {
      if (one.grade >= 0) to.push_back({one.document, one.grade, one.score});
    }
  };
  for (const uint32_t e : which) {
    const data::TrainingQuery& example = set.examples[e];
    judged.clear();
    unused.clear();
    append(example.positives, judged);
    append(example.others, judged);
    append(example.unused, unused);
    examples.Add(set.query_hashes[example.query], judged, unused);
  }
  return examples;
}

}  // namespace tandem::train
