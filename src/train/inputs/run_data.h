// What a run trains on and what it is measured on, read once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "data/dataset.h"
#include "data/judgements/qrels.h"
#include "data/training_set.h"
#include "objective/catalogue.h"
#include "sampling/examples.h"
#include "train/inputs/own_text.h"

namespace tandem::train {

// Queries with judgements over a corpus; what it points to must outlive it.
struct JudgedCorpus {
  const data::Texts* documents = nullptr;
  const data::Texts* queries = nullptr;
  std::vector<data::JudgedQuery> judged;
  // Everything that is judged, also of queries and documents that are missing here, which a measure
  // counts; null: that is `judged`.
  const data::Qrels* qrels = nullptr;
};

// One of the data sets that a run trains on.
struct RunSource {
  std::string path;
  size_t first_query = 0;     // of set.queries: from here on, up to the next source's, are its own
  size_t first_document = 0;  // of set.documents, likewise
  // What stands before its texts; none: the model's prompts do.
  std::optional<std::string> query_prompt, document_prompt;
};

struct RunData {
  data::TrainingSet set;
  std::vector<RunSource> sources;           // by TrainingQuery::source; at least one
  std::vector<uint32_t> training;           // of set.examples: trained on
  std::vector<uint32_t> held_out;           // of set.examples: `validation.holdout`
  OwnTexts own_texts;                       // of the training queries
  std::optional<data::Dataset> validation;  // `validation.data`, its grades as they were read
  // Every judgement of a BEIR folder of `validation.data` that is ranked, also of queries and
  // documents that the folder lacks.
  std::optional<data::Qrels> validation_qrels;
  // What the lines of all training data put before queries, where no source has a prompt of its
  // own; empty: nothing.
  std::string query_prompt;
  // Changes with every id, text, judgement and grade that was read.
  uint64_t fingerprint = 0;

  // The queries to validate on. Call it only where validation is enabled. Points into this object.
  JudgedCorpus ValidationCorpus() const;
  // The grade from which a document of the validation corpus is relevant.
  double RelevanceLevel(const config::DataRecipe& recipe) const;
};

// Reads what the recipe names, with the grades and teacher scores that an objective `needs`
// (train/inputs/label_keys.h). Held-out queries are drawn from stream (seed, "holdout"); queries
// with the text of a held-out one are held out too. The recipe's changes of labels for a study
// reach the training queries only. With data.masks.query_text, documents with their query's own
// text are left out of its judged negatives. Throws DataError as the readers do, for a corpus of
// one document, and for a source that brings no training query; RecipeError where the holdout
// leaves nothing to train or nothing to validate on.
RunData ReadRunData(const config::LoadedRecipe& recipe, const objective::Needs& needs = {});

// The numbers of `which` of set.examples, in that order. A judgement below 0 means "not judged" and
// is left out.
sampling::Examples MakeExamples(const data::TrainingSet& set, double positive_grade,
                                std::span<const uint32_t> which);

}  // namespace tandem::train
