// A training recipe: everything that decides a run, one struct for each table of the file.
//
// Member initialisers are the defaults. Names, units, ranges and docs of the fields are in
// recipe_fields.h; reading a file is in recipe_parse.h, writing one in recipe_text.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/params.h"
#include "config/quantity.h"

namespace tandem::config {

struct ModelRecipe {
  std::string base;  // folder
  std::string towers = "shared";
  std::optional<std::string> document_base;    // folder; none: `base`. Not for shared towers
  std::optional<int64_t> layers;               // the encoder's first ones; none: all
  int64_t reinitialize_layers = 0;             // of the encoder's last ones
  bool head = false;                           // the prediction head of classifiers as pooler
  std::optional<int64_t> projection;           // none: no new projection
  std::optional<std::string> pooling;          // a mode; none: the folder's
  std::optional<bool> include_prompt;          // none: the folder's
  std::optional<int64_t> max_query_tokens;     // none: the folder's
  std::optional<int64_t> max_document_tokens;  // none: the folder's
  std::optional<std::string> query_prompt;     // none: the folder's
  std::optional<std::string> document_prompt;  // none: the folder's
  std::optional<double> dropout;               // none: the folder's config.json
  std::optional<bool> is_causal;               // of decoders; none: the folder's config.json
  Integers dimensions;        // of Matryoshka training; empty: the full width alone
  Numbers dimension_weights;  // of `dimensions`; empty: all are 1
  std::string train = "all";
  Strings freeze;                      // parts of the model
  std::optional<std::string> adapter;  // folder; none: new adapters
  bool operator==(const ModelRecipe&) const = default;
};

// New low-rank adapters, where model.train is "lora".
struct LoraRecipe {
  int64_t rank = 32;
  double alpha = 64;
  double dropout = 0;
  Strings target_modules = {"all-linear"};
  bool rslora = false;
  bool operator==(const LoraRecipe&) const = default;
};

// Says which cells are kept out of the negatives (docs/training.md, "A step").
struct MaskRecipe {
  bool copies = true;
  bool known_positives = true;
  bool same_query = true;
  bool query_text = true;
  bool in_batch = true;  // false: a query's extra negatives are its only negatives
  // The false-negative filter (train/step/false_negatives.h); all none: off.
  std::optional<double> false_negative_score;
  std::optional<double> false_negative_absolute_margin;
  std::optional<double> false_negative_relative_margin;
  std::optional<double> same_tower_score;  // none: off
  bool operator==(const MaskRecipe&) const = default;
};

// One of several data sets that a run trains on.
struct SourceRecipe {
  std::string path;  // folder or file
  std::string format = "auto";
  std::optional<std::string> split;  // none: train, of a folder
  double weight = 1;
  std::optional<std::string> task;             // none: a task of its own
  std::optional<std::string> query_prompt;     // none: config/recipe/sources.h says
  std::optional<std::string> document_prompt;  // none: the same
  bool operator==(const SourceRecipe&) const = default;
};

struct DataRecipe {
  std::string train;  // folder or file; "": `sources`
  std::string format = "auto";
  std::string split = "train";
  double positive_grade = 1;
  std::optional<int64_t> negatives;  // extra labelled documents per query; none: by the data
  std::string scores = "auto";
  std::optional<Range> grade_scale;     // none: grades are in [0, 1] where it matters
  std::optional<double> binarize_at;    // a grade of the data; positive_grade is the same then
  std::optional<double> minimum_grade;  // a grade of the data too
  std::string cut_off = "best";         // what minimum_grade keeps
  double swap_labels = 0;               // probability
  double flip_labels = 0;               // probability
  std::optional<int64_t> limit;         // training queries; none: all
  Strings labels;                       // of lines: LABEL=NUMBER
  Strings ignore_columns;               // keys of lines
  std::string ids = "given";            // of Tevatron's lines
  MaskRecipe masks;
  std::string mixture = "size";       // of several sources
  std::vector<SourceRecipe> sources;  // none: `train` alone
  // The default of `positive_grade`: 1, but where the lowest grade is 1 or more, one above that,
  // because documents of the lowest grade are no positives.
  double default_positive_grade() const {
    if (!grade_scale || grade_scale->minimum < 1) return 1;
    return std::min(grade_scale->minimum + 1, grade_scale->maximum);
  }
  // The paths of everything that is trained on: `train`, or the paths of `sources`.
  std::vector<std::string> paths() const {
    if (sources.empty()) return {train};
    std::vector<std::string> all;
    for (const SourceRecipe& source : sources) all.push_back(source.path);
    return all;
  }
  bool operator==(const DataRecipe&) const = default;
};

// A catalogue's entry and the values of its own parameters. Tables of a recipe that name an entry
// derive from it; what they add holds for every entry of the catalogue.
struct EntryRecipe {
  std::string name;
  Params params;
  bool operator==(const EntryRecipe&) const = default;
};

struct SamplingRecipe : EntryRecipe {
  SamplingRecipe() : EntryRecipe{.name = "uniform", .params = {}} {}
  // Whether a query text or a document text may be in a batch twice (kDuplicates of
  // recipe_choices.h).
  std::string no_duplicates = "mask";
  bool by_task = false;          // one task a batch
  bool similar_lengths = false;  // queries of similar length in a batch
  // Whether batches keep copies apart as far as they can.
  bool keeps_copies_apart() const { return no_duplicates != "false"; }
  // Whether copies meet where batches would be smaller otherwise.
  bool fills_batches() const { return no_duplicates == "mask"; }
  bool operator==(const SamplingRecipe&) const = default;
};

// Hard negatives that the run mines itself. Off without `every`.
struct MiningRecipe {
  std::optional<Quantity> every;  // of the run's steps
  std::string range = "10:200";   // as ParseRankRange reads it
  int64_t negatives = 5;          // of each query
  std::optional<double> absolute_margin;
  std::optional<double> relative_margin;
  bool random = false;
  std::string memory = "2GiB";  // as ParseByteSize reads it
  bool enabled() const { return every.has_value(); }
  bool operator==(const MiningRecipe&) const = default;
};

struct ObjectiveRecipe : EntryRecipe {
  bool operator==(const ObjectiveRecipe&) const = default;
};

struct OptimizerRecipe : EntryRecipe {
  OptimizerRecipe() : EntryRecipe{.name = "adamw", .params = {}} {}
  double learning_rate = 2e-5;
  std::string learning_rate_scaling = "none";
  int64_t reference_batch = 16;  // queries
  double clip = 1.0;             // 0: no clipping
  bool operator==(const OptimizerRecipe&) const = default;
};

struct ScheduleRecipe : EntryRecipe {
  ScheduleRecipe() : EntryRecipe{.name = "linear", .params = {}} {}
  Quantity warmup = Quantity::Percent(5);  // of the run's steps
  bool operator==(const ScheduleRecipe&) const = default;
};

struct TrainRecipe {
  // Exactly one of the two is set after parsing.
  std::optional<int64_t> batch = 64;  // queries
  std::optional<int64_t> batch_tokens;
  // The rules for the keys above hold for these, too.
  std::optional<double> epochs = 1.0;
  std::optional<int64_t> steps;
  int64_t accumulate = 1;                             // batches per step
  int64_t chunk_tokens = 0;                           // > 0: gradient cache
  std::string reduce = "fp32";                        // how gradients travel between processes
  Quantity checkpoint_every = Quantity::Percent(10);  // of the run's steps; 0: only at the end
  std::optional<int64_t> keep_checkpoints;            // none: plan.h says
  bool operator==(const TrainRecipe&) const = default;
};

// One of several data sets that a run validates on.
struct ValidationSourceRecipe {
  std::string path;                            // folder or file
  std::optional<std::string> split;            // none: dev, of a folder
  std::optional<int64_t> queries;              // none: all that are judged
  std::optional<int64_t> pool;                 // documents; none: the whole corpus
  std::optional<std::string> query_prompt;     // none: the model's
  std::optional<std::string> document_prompt;  // none: the model's
  bool operator==(const ValidationSourceRecipe&) const = default;
};

// Off when none of `data`, `holdout` and `sources` is given; at most one of them is set after
// parsing.
struct ValidationRecipe {
  std::optional<std::string> data;
  std::string split = "dev";
  std::optional<std::string> query_prompt;     // of `data`; none: the model's
  std::optional<std::string> document_prompt;  // of `data`; none: the model's
  std::optional<Quantity> holdout;             // of the training queries
  std::string measure = "ndcg@10";
  Strings report;                          // further measures, which decide nothing
  std::optional<int64_t> pool;             // documents; none: the whole corpus
  bool ignore_identical_ids = false;       // no document is ranked for the query with its id
  Quantity every = Quantity::Percent(10);  // of the run's steps
  int64_t patience = 3;                    // validations without improvement; 0: never stop early
  std::vector<ValidationSourceRecipe> sources;  // none: `data` or `holdout`
  bool enabled() const { return data.has_value() || holdout.has_value() || !sources.empty(); }
  bool by_loss() const { return measure == "loss"; }  // the one measure that eval does not have
  bool ranks() const { return enabled() && !by_loss(); }
  bool operator==(const ValidationRecipe&) const = default;
};

struct LoggingRecipe {
  int64_t every = 10;  // steps
  bool operator==(const LoggingRecipe&) const = default;
};

struct Recipe {
  int64_t seed = 1;
  int64_t threads = 0;  // 0: all that the machine gives
  std::string precision = "auto";
  std::string device = "cpu";  // as tensor::ResolveDevice reads it
  std::string output;          // run folder; "": --output must say
  ModelRecipe model;
  LoraRecipe lora;
  DataRecipe data;
  SamplingRecipe sampling;
  MiningRecipe mining;
  ObjectiveRecipe objective;
  OptimizerRecipe optimizer;
  ScheduleRecipe schedule;
  TrainRecipe train;
  ValidationRecipe validation;
  LoggingRecipe logging;
  bool operator==(const Recipe&) const = default;
};

}  // namespace tandem::config
