#include "train/scoring/sampler_scores.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/files/cache_folder.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/random.h"
#include "train/run/broadcast_arrays.h"
#include "train/setup/setup.h"

namespace tandem::train {
namespace {

PairSource SourceOf(const Setup& setup) {
  return {
      .examples = setup.texts.examples,
      .query_texts = setup.texts.query_texts,
      .queries = setup.data.set.queries,
      .documents = setup.data.set.documents,
      .graded_own = setup.objective.needs.graded_own,
      .query_prompt = setup.prompts.queries.Unless(setup.model->prompt(model::TextKind::kQuery)),
      .document_prompt =
          setup.prompts.documents.Unless(setup.model->prompt(model::TextKind::kDocument))};
}

// Stand for scores that nobody has computed.
PairScores RandomScores(size_t pairs, const sampling::ScoreNeeds& needs, uint64_t seed) {
  RandomStream random({seed, "scores that are not known"});
  PairScores scores;
  for (std::vector<float>* values : {&scores.cosines, &scores.reciprocal_ranks}) {
    if (values == &scores.reciprocal_ranks && !needs.consistencies) continue;
    values->resize(pairs);
    for (float& value : *values) value = static_cast<float>(random.Uniform());
  }
  return scores;
}

void StopIfAsked(const StopRequest& stop, const std::filesystem::path& cache) {
  const int signal = StopSignal(stop);
  if (signal == 0) return;
  throw Interrupted(
      signal,
      cache.empty()
          ? "interrupted while the base model scored the pairs; nothing of it is kept, because "
            "TANDEM_CACHE is set to nothing, and the same command begins anew"
          : fmt::format("interrupted while the base model scored the pairs; {} keeps the blocks "
                        "that it has encoded, and the same command goes on from there",
                        (cache / "embeddings").native()));
}

// Throws RecipeError where the data have not what the scores need.
PairScoreOptions OptionsOf(const Setup& setup, const sampling::ScoreNeeds& needs,
                           const StopRequest& stop) {
  if (needs.consistencies && !HasCandidates(SourceOf(setup))) {
    throw setup.loaded.ErrorAt("sampling.score", kNoCandidates);
  }
  const std::filesystem::path cache = CacheFolder();
  return {
      .consistency = needs.consistencies,
      .seed = static_cast<uint64_t>(setup.recipe().seed),
      .cache = {
          .folder = cache,
          .encode = {.precision = setup.precision, .threads = setup.threads, .group = setup.group},
          .between_blocks = [stop, cache] { StopIfAsked(stop, cache); }}};
}

// The sampler goes by the scores, so all processes have the same to the last digit.
void TakeFromRankZero(dist::ProcessGroup& group, PairScores& scores) {
  const std::vector<sampling::StateArray> arrays = BroadcastArrays(
      group, {{"cosines", scores.cosines}, {"reciprocal_ranks", scores.reciprocal_ranks}});
  scores.cosines = std::get<std::vector<float>>(arrays[0].values);
  scores.reciprocal_ranks = std::get<std::vector<float>>(arrays[1].values);
}

}  // namespace

PairScores ScoreForSampling(const Setup& setup, const sampling::ScoreNeeds& needs,
                            const StopRequest& stop) {
  if (!needs.any()) return {};
  const PairScoreOptions options = OptionsOf(setup, needs, stop);
  PairScores scores = ScorePairs(*setup.model, SourceOf(setup), options);
  StopIfAsked(stop, options.cache.folder);
  if (setup.group != nullptr) TakeFromRankZero(*setup.group, scores);
  Note(fmt::format("the base model scored {} pairs in {}, for sampling.name = \"{}\"",
                   scores.cosines.size(), FormatDuration(scores.seconds),
                   setup.recipe().sampling.name));
  return scores;
}

PairScores FindScores(Setup& setup, const sampling::ScoreNeeds& needs) {
  if (!needs.any()) return {};
  const PairScoreOptions options = OptionsOf(setup, needs, {});
  setup.scoring = WorkOfScoring(*setup.model, SourceOf(setup), options);
  if (!setup.scoring->encodes()) return ScoreForSampling(setup, needs, {});
  return RandomScores(setup.scoring->pairs, needs, options.seed);
}

std::string ScoringText(const Setup& setup) {
  if (!setup.scoring) return "";
  const PairScoreWork& work = *setup.scoring;
  std::string text = fmt::format("before its first step the run scores {} pairs of {} texts",
                                 work.pairs, work.texts);
  if (!work.encodes()) return text + ", whose embeddings are in the cache\n";
  return text + fmt::format(
                    ": {} are in the cache, and to encode the others takes about {}. Which pairs "
                    "sampling.name = \"{}\" leaves out is not known before: what follows is of "
                    "random ones, as many\n",
                    work.kept, FormatDuration(work.seconds), setup.recipe().sampling.name);
}

}  // namespace tandem::train
