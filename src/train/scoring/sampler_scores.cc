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

namespace tandem::train {
namespace {

PairSource SourceOf(const RunInputs& inputs) {
  return {
      .examples = inputs.texts.examples,
      .query_texts = inputs.texts.query_texts,
      .queries = inputs.data.set.queries,
      .documents = inputs.data.set.documents,
      .graded_own = inputs.needs.graded_own,
      .query_prompt = inputs.prompts.queries.Unless(inputs.model->prompt(model::TextKind::kQuery)),
      .document_prompt =
          inputs.prompts.documents.Unless(inputs.model->prompt(model::TextKind::kDocument))};
}

// Returns random scores that stand in for scores that were not computed.
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
            "there is no cache, and the same command begins anew"
          : fmt::format("interrupted while the base model scored the pairs; {} keeps the blocks "
                        "that it has encoded, and the same command goes on from there",
                        (cache / "embeddings").native()));
}

// Throws RecipeError if the data lack what the scores need.
PairScoreOptions OptionsOf(const RunInputs& inputs, const sampling::ScoreNeeds& needs,
                           const StopRequest& stop) {
  if (needs.consistencies && !HasCandidates(SourceOf(inputs))) {
    throw inputs.run.loaded.ErrorAt("sampling.score", kNoCandidates);
  }
  const std::filesystem::path cache = CacheFolder();
  return {.consistency = needs.consistencies,
          .seed = static_cast<uint64_t>(inputs.recipe().seed),
          .cache = {.folder = cache,
                    .encode = {.precision = inputs.run.precision,
                               .threads = inputs.run.threads,
                               .group = inputs.run.group},
                    .between_blocks = [stop, cache] { StopIfAsked(stop, cache); }}};
}

// Overwrites the scores with those of rank 0, because the sampler's choices depend on every digit
// and must be the same on all processes.
void TakeFromRankZero(dist::ProcessGroup& group, PairScores& scores) {
  const std::vector<sampling::StateArray> arrays = BroadcastArrays(
      group, {{"cosines", scores.cosines}, {"reciprocal_ranks", scores.reciprocal_ranks}});
  scores.cosines = std::get<std::vector<float>>(arrays[0].values);
  scores.reciprocal_ranks = std::get<std::vector<float>>(arrays[1].values);
}

}  // namespace

SamplerScores ScoreForSampling(const RunInputs& inputs, const sampling::ScoreNeeds& needs,
                               const StopRequest& stop) {
  if (!needs.any()) return {};
  const PairScoreOptions options = OptionsOf(inputs, needs, stop);
  PairScores scores = ScorePairs(*inputs.model, SourceOf(inputs), options);
  StopIfAsked(stop, options.cache.folder);
  if (inputs.run.group != nullptr) TakeFromRankZero(*inputs.run.group, scores);
  Note(fmt::format("the base model scored {} pairs in {}, for sampling.name = \"{}\"",
                   scores.cosines.size(), FormatDuration(scores.seconds),
                   inputs.recipe().sampling.name));
  return {.scores = std::move(scores), .work = {}};
}

SamplerScores FindScores(const RunInputs& inputs, const sampling::ScoreNeeds& needs) {
  if (!needs.any()) return {};
  const PairScoreOptions options = OptionsOf(inputs, needs, {});
  const PairScoreWork work = WorkOfScoring(*inputs.model, SourceOf(inputs), options);
  PairScores scores = work.encodes() ? RandomScores(work.pairs, needs, options.seed)
                                     : ScoreForSampling(inputs, needs, {}).scores;
  return {.scores = std::move(scores), .work = work};
}

std::string ScoringText(const std::optional<PairScoreWork>& work, const config::Recipe& recipe) {
  if (!work) return "";
  std::string text = fmt::format("before its first step the run scores {} pairs of {} texts",
                                 work->pairs, work->texts);
  if (!work->encodes()) return text + ", whose embeddings are in the cache\n";
  return text + fmt::format(
                    ": {} are in the cache, and to encode the others takes about {}. Which pairs "
                    "sampling.name = \"{}\" leaves out is not known before: what follows is of "
                    "random ones, as many\n",
                    work->kept, FormatDuration(work->seconds), recipe.sampling.name);
}

}  // namespace tandem::train
