// The data that a run trains and validates on, read once.
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

// Queries with judgements over a corpus. The data that it points to must outlive it.
struct JudgedCorpus {
  const data::Texts* documents = nullptr;
  const data::Texts* queries = nullptr;
  std::vector<data::JudgedQuery> judged;
  // All judgements, including those of queries and documents that are missing here, which a measure
  // counts too; null: `judged` has all.
  const data::Qrels* qrels = nullptr;
};

// One of the data sets that a run trains on.
struct RunSource {
  std::string path;
  size_t first_query = 0;     // index in set.queries; its queries reach to the next source's
  size_t first_document = 0;  // index in set.documents, likewise
  // The prompts of its texts; none: the model's prompts are used.
  std::optional<std::string> query_prompt, document_prompt;
};

// One of several data sets that a run validates on, [[validation.source]].
struct ValidationSource {
  std::string name;       // told from the others'
  data::Dataset dataset;  // its judged queries are those that it is measured on
  // All judgements of these queries, if it is a BEIR folder, as RunData::validation_qrels.
  std::optional<data::Qrels> qrels;

  JudgedCorpus Corpus() const;  // points into this object
};

struct RunData {
  data::TrainingSet set;
  std::vector<RunSource> sources;           // by TrainingQuery::source; at least one
  std::vector<uint32_t> training;           // indices of set.examples: the training queries
  std::vector<uint32_t> held_out;           // indices of set.examples: for `validation.holdout`
  OwnTexts own_texts;                       // counts for the training queries
  std::optional<data::Dataset> validation;  // `validation.data`, with its grades as they were read
  // All judgements of `validation.data` if it is a BEIR folder whose documents are ranked,
  // including those of queries and documents that the folder lacks.
  std::optional<data::Qrels> validation_qrels;
  std::vector<ValidationSource> validation_sources;
  // The query prompt of the lines of all training data, if no source has a prompt of its own;
  // empty: no prompt.
  std::string query_prompt;
  // Changes with every id, text, judgement and grade that was read.
  uint64_t fingerprint = 0;

  // Returns the queries of `validation.data` or `validation.holdout`, one of which must be given.
  // The result points into this object.
  JudgedCorpus ValidationCorpus() const;
  // The grade from which a document of the validation corpus is relevant.
  double RelevanceLevel(const config::DataRecipe& recipe) const;
};

// Reads the data that the recipe names, with the grades and teacher scores that an objective
// `needs` (train/inputs/label_keys.h). Held-out queries are drawn from stream (seed, "holdout");
// queries with the text of a held-out one are held out too. Changes of labels for a study apply to
// the training queries only. With data.masks.query_text, documents with the query's text are left
// out of its judged negatives. `data.limit` comes last and draws from stream (seed, "limit").
// Throws DataError as the readers do, for a corpus of one document, and for a source that brings no
// training query; RecipeError if the holdout leaves nothing to train or nothing to validate on.
RunData ReadRunData(const config::LoadedRecipe& recipe, const objective::Needs& needs = {});

// Makes the labels of the examples `which` of set.examples, in that order. A judgement below 0
// means "not judged" and is left out.
sampling::Examples MakeExamples(const data::TrainingSet& set, double positive_grade,
                                std::span<const uint32_t> which);

}  // namespace tandem::train
