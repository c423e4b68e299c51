#include "train/inputs/example_texts.h"

#include <string_view>
#include <vector>

#include "model/prompt_lengths.h"
#include "train/inputs/run_data.h"

namespace tandem::train {
namespace {

TokenStore Tokens(const data::Texts& texts, const std::vector<bool>& wanted, model::TextKind kind,
                  const model::DualEncoder& model, const RunPrompts& prompts, int threads,
                  SharedTokens* shared) {
  model::PromptLengths lengths(model.tokenizer(kind), model.max_tokens(kind));
  TokenStoreInput input{.count = texts.size(),
                        .text = [&texts](size_t i) { return texts.text(i); },
                        .wanted = [&wanted](size_t i) { return wanted[i]; },
                        .prompt = prompts.Of(kind).Unless(""),
                        .max_length = model.max_tokens(kind),
                        .threads = threads};
  if (!model.include_prompt(kind)) {
    input.prompt_tokens = [&lengths](std::string_view prompt) { return lengths.Of(prompt); };
  }
  if (shared == nullptr) return TokenStore(model.tokenizer(kind), input);
  return shared->Of(static_cast<int>(kind), model.tokenizer(kind), input);
}

}  // namespace

ExampleTexts MakeExampleTexts(const data::TrainingSet& set, double positive_grade,
                              std::span<const uint32_t> which, const model::DualEncoder& model,
                              const RunPrompts& prompts, int threads,
                              std::span<const uint32_t> others, SharedTokens* shared) {
  std::vector<bool> queries(set.queries.size()), documents(set.documents.size());
  for (const uint32_t document : others) documents[document] = true;
  std::vector<uint32_t> query_texts;
  for (const uint32_t e : which) {
    const data::TrainingQuery& example = set.examples[e];
    query_texts.push_back(example.query);
    queries[example.query] = true;
    for (const data::Judgement& judgement : example.positives) documents[judgement.document] = true;
    for (const data::Judgement& judgement : example.others) documents[judgement.document] = true;
  }
  return {.examples = MakeExamples(set, positive_grade, which),
          .query_texts = std::move(query_texts),
          .queries = Tokens(set.queries, queries, model::TextKind::kQuery, model, prompts, threads,
                            shared),
          .documents = Tokens(set.documents, documents, model::TextKind::kDocument, model, prompts,
                              threads, shared)};
}

sampling::SamplerOptions SamplerOptionsOf(const config::Recipe& recipe,
                                          const objective::Needs& needs) {
  sampling::RunLength length{.epochs = recipe.train.epochs.value_or(1)};
  if (recipe.train.steps) {
    length.batches = static_cast<uint64_t>(*recipe.train.steps * recipe.train.accumulate);
  }
  return {.seed = static_cast<uint64_t>(recipe.seed),
          .batch = static_cast<size_t>(recipe.train.batch.value_or(1)),
          .negatives = static_cast<size_t>(recipe.data.negatives.value_or(0)),
          .no_duplicates = recipe.sampling.keeps_copies_apart(),
          .copies_meet = recipe.data.masks.copies && recipe.data.masks.same_query,
          .fill_batches = recipe.sampling.fills_batches(),
          .in_batch = recipe.data.masks.in_batch,
          .graded_own = needs.graded_own,
          .accumulate = static_cast<size_t>(recipe.train.accumulate),
          .length = length,
          .params = recipe.sampling.params,
          .by_task = recipe.sampling.by_task,
          .similar_lengths = recipe.sampling.similar_lengths,
          .batch_tokens = static_cast<size_t>(recipe.train.batch_tokens.value_or(0)),
          .mines = recipe.mining.enabled()};
}

sampling::MaskRules MaskRulesOf(const config::Recipe& recipe) {
  return {.copies = recipe.data.masks.copies,
          .known_positives = recipe.data.masks.known_positives,
          .same_query = recipe.data.masks.same_query,
          .query_text = recipe.data.masks.query_text,
          .in_batch = recipe.data.masks.in_batch};
}

}  // namespace tandem::train
