// The one list of a recipe's fields. Parsing, range checks, writing, comparison and docs all visit
// it, so that a field exists everywhere as soon as it has its line here.
//
// A visitor has
//   void Table(std::string_view path, std::string_view doc)
//   void Field(std::string_view name, T& value, const FieldInfo&)
//   void Entry(EntryRecipe& entry, const FieldInfo&)
//   void List(std::string_view path, std::vector<T>& items, const Visit&)
// Table begins a table; the fields that follow belong to it. Field is one key; T as in recipe.h.
// List is a list of tables, [[path]] in the file: the visitor calls Visit(item, path of the item)
// for each of them, which begins the item's table. Entry is the key `name`, which names an entry of
// the table's catalogue and which the FieldInfo describes, and after it one key for each of that
// entry's parameters.
#pragma once

#include <string>
#include <vector>

#include "config/recipe/field_info.h"
#include "config/recipe/head_fields.h"
#include "config/recipe/lora_fields.h"
#include "config/recipe/mask_fields.h"
#include "config/recipe/mining_fields.h"
#include "config/recipe/recipe.h"
#include "config/recipe/recipe_choices.h"
#include "config/recipe/source_fields.h"
#include "config/recipe/sources.h"
#include "config/recipe/study_fields.h"
#include "config/recipe/validation_fields.h"

namespace tandem::config {

// Nothing learns at a larger one.
inline constexpr double kMaxLearningRate = 10;

// Conditions of fields; those on the data are in source_fields.h.
inline constexpr FieldCondition kTwoTowers = {
    "model.towers = \"separate\" or \"separate_shared_projection\"",
    [](const Recipe& recipe) { return recipe.model.towers != "shared"; }};
inline constexpr FieldCondition kNotBinarized = {
    "a recipe without data.binarize_at, which takes its place",
    [](const Recipe& recipe) { return !recipe.data.binarize_at.has_value(); }};
inline constexpr FieldCondition kSeveralTasks = {
    "several [[data.source]]: each is a task, unless `task` says otherwise",
    [](const Recipe& recipe) {
      const std::vector<uint32_t> tasks = TasksOfSources(recipe.data.sources);
      return std::any_of(tasks.begin(), tasks.end(), [](uint32_t task) { return task > 0; });
    }};
inline constexpr FieldCondition kScaledLearningRate = {
    "optimizer.learning_rate_scaling = \"sqrt_batch\"",
    [](const Recipe& recipe) { return recipe.optimizer.learning_rate_scaling == "sqrt_batch"; }};

template <MaybeConst<Recipe> R, typename Visitor>
void VisitRun(R& recipe, Visitor& visitor) {
  visitor.Table("", "The run as a whole");
  visitor.Field("seed", recipe.seed, {.doc = "names every random stream", .range = {0, 9e18}});
  visitor.Field("threads", recipe.threads,
                {.doc = "0: all that the machine gives", .unit = "threads", .range = {0, 4096}});
  visitor.Field("precision", recipe.precision,
                {.doc = "arithmetic of matrix products", .choices = kPrecisions});
  visitor.Field("device", recipe.device,
                {.doc = "where tensors are computed: \"cpu\", \"cuda\" or \"cuda:N\" (device N of "
                        "this machine, from 0); \"cuda\" alone is the device of this process",
                 .elsewhere = "PyTorch: `torch.device`"});
  visitor.Field("output", recipe.output,
                {.doc = "run folder; --output wins", .on_resume = OnResume::kMayChange});
}

template <MaybeConst<ModelRecipe> R, typename Visitor>
void VisitModel(R& model, Visitor& visitor) {
  constexpr Range kTokens = {3, 1048576};
  visitor.Table("model", "The model that training starts from");
  visitor.Field("base", model.base,
                {.doc = "sentence-transformers or Hugging Face folder, or a model of two encoders",
                 .required = true,
                 .on_resume = OnResume::kMayChange});
  visitor.Field("towers", model.towers, {.doc = "how encoders are shared", .choices = kTowers});
  visitor.Field("document_base", model.document_base,
                {.doc = "the document tower's folder, where towers are not shared",
                 .unset_doc = "`base`",
                 .on_resume = OnResume::kMayChange,
                 .condition = kTwoTowers});
  visitor.Field("layers", model.layers,
                {.doc = "keep the encoder's first layers only, of both towers; the written "
                        "`config.json` says so",
                 .unit = "layers",
                 .range = {1, 1024},
                 .unset_doc = "all"});
  visitor.Field("reinitialize_layers", model.reinitialize_layers,
                {.doc = "so many of the encoder's last layers start from random weights, drawn by "
                        "`seed` as BERT's are (config.json's `initializer_range`), for a weaker "
                        "base",
                 .unit = "layers",
                 .range = {0, 1024}});
  visitor.Field("head", model.head,
                {.doc = "of ModernBERT: the prediction head of its task models, with the base's "
                        "weights of it, follows pooling as a Dense and a LayerNorm module"});
  visitor.Field("projection", model.projection,
                {.doc = "width of a new Dense module after pooling: embeddings get this width",
                 .unit = "numbers",
                 .range = {1, 65536},
                 .unset_doc = "none"});
  VisitPooling(model, visitor);
  visitor.Field("max_query_tokens", model.max_query_tokens,
                {.doc = "longer queries are truncated",
                 .unit = "tokens",
                 .range = kTokens,
                 .unset_doc = "the folder's",
                 .elsewhere = "sentence-transformers: `max_seq_length`; FlagEmbedding: "
                              "`query_max_len`"});
  visitor.Field("max_document_tokens", model.max_document_tokens,
                {.doc = "longer documents are truncated",
                 .unit = "tokens",
                 .range = kTokens,
                 .unset_doc = "the folder's",
                 .elsewhere = "sentence-transformers: `max_seq_length`; FlagEmbedding: "
                              "`passage_max_len`"});
  visitor.Field("query_prompt", model.query_prompt,
                {.doc = "text put before every query", .unset_doc = "the folder's"});
  visitor.Field("document_prompt", model.document_prompt,
                {.doc = "text put before every document", .unset_doc = "the folder's"});
  visitor.Field("dropout", model.dropout,
                {.doc = "share of activations dropped in training",
                 .range = {0, 0.9},
                 .unset_doc = "the folder's config.json"});
  visitor.Field("is_causal", model.is_causal,
                {.doc = "of decoders: false lets a token read the tokens after it too, as an "
                        "encoder does; written to config.json",
                 .unset_doc = "the folder's config.json"});
  VisitDimensions(model, visitor);
  VisitTrained(model, visitor);
}

template <MaybeConst<DataRecipe> R, typename Visitor>
void VisitData(R& data, Visitor& visitor) {
  visitor.Table("data", "What is trained on");
  visitor.Field("train", data.train,
                {.doc = "data set folder or file",
                 .required = data.sources.empty(),
                 .on_resume = OnResume::kMayChange,
                 .condition = kNoSources});
  visitor.Field("format", data.format,
                {.doc = "format of `train`", .choices = kDataFormats, .condition = kNoSources});
  visitor.Field("split", data.split,
                {.doc = "which judgements of `train`", .condition = kTrainingSplits});
  visitor.Field(
      "positive_grade", data.positive_grade,
      {.doc = "a judged document is a positive from this grade on; where `grade_scale` begins at 1 "
              "or above, the default is one above its lowest grade",
       .condition = kNotBinarized});
  visitor.Field(
      "negatives", data.negatives,
      {.doc = "judged and mined negatives of each query; for graded objectives extra labelled "
              "documents",
       .unit = "documents",
       .range = {0, 1024},
       .unset_doc = "the lower median of what is judged for the training queries, at most 7; with "
                    "[mining] at least 1",
       .elsewhere = "FlagEmbedding, Tevatron: `train_group_size` less 1"});
  visitor.Field("scores", data.scores,
                {.doc = "what scores in the lines of `train` are",
                 .choices = kScoreUses,
                 .condition = kTrainingLines});
  visitor.Field("grade_scale", data.grade_scale,
                {.doc = "lowest and highest grade, which become 0 and 1",
                 .unset_doc = "grades are used as they are"});
  VisitStudies(data, visitor);
  visitor.Field("labels", data.labels,
                {.doc = "what labels in the lines stand for, as [\"up=1\", \"down=0\"]; then every "
                        "label must be one of these",
                 .unset_doc = "labels are numbers, or true and false",
                 .condition = kLines});
  visitor.Field("ignore_columns", data.ignore_columns,
                {.doc = "keys of the lines that are passed over, whatever they look like",
                 .unset_doc = "none",
                 .condition = kLines});
  visitor.Field("ids", data.ids,
                {.doc = "what tells documents and queries of Tevatron's lines apart",
                 .choices = kIds,
                 .condition = kLines});
  visitor.Field("mixture", data.mixture,
                {.doc = "how much of an epoch each data set is",
                 .choices = kMixtures,
                 .condition = kSeveralSources});
  VisitMasks(data.masks, visitor);
  visitor.List("data.source", data.sources, [&visitor](auto& source, std::string_view path) {
    VisitSource(source, path, visitor);
  });
}

template <MaybeConst<OptimizerRecipe> R, typename Visitor>
void VisitOptimizer(R& optimizer, Visitor& visitor) {
  visitor.Table("optimizer",
                "How weights follow gradients; further keys are the optimizer's parameters");
  visitor.Entry(optimizer, {.doc = "the rule; `tandem list optimizers` says what each is"});
  visitor.Field("learning_rate", optimizer.learning_rate,
                {.doc = "peak step size",
                 .range = {0, kMaxLearningRate},
                 .elsewhere = "transformers: `learning_rate`"});
  visitor.Field("learning_rate_scaling", optimizer.learning_rate_scaling,
                {.doc = "what `learning_rate` is", .choices = kLearningRateScalings});
  visitor.Field("reference_batch", optimizer.reference_batch,
                {.doc = "queries of the steps that `learning_rate` is given for",
                 .unit = "queries",
                 .range = {1, 1048576},
                 .condition = kScaledLearningRate});
  visitor.Field("clip", optimizer.clip,
                {.doc = "largest norm of the whole gradient; 0: no clipping",
                 .range = {0, 1e6},
                 .elsewhere = "transformers: `max_grad_norm`"});
}

template <MaybeConst<TrainRecipe> R, typename Visitor>
void VisitTrain(R& train, Visitor& visitor) {
  visitor.Table("train",
                "How long training is, and in which batches; give `epochs` or `steps`, not both, "
                "and `batch` or `batch_tokens`");
  visitor.Field("batch", train.batch,
                {.doc = "queries in a batch",
                 .unit = "queries",
                 .range = {1, 1048576},
                 .unset_doc = "`batch_tokens` decides",
                 .elsewhere = "transformers: `per_device_train_batch_size`"});
  visitor.Field("batch_tokens", train.batch_tokens,
                {.doc = "tokens in a batch at most, those of its documents counted",
                 .unit = "tokens",
                 .range = {2, 1e9},
                 .unset_doc = "`batch` decides"});
  visitor.Field("epochs", train.epochs,
                {.doc = "passes over the training queries",
                 .unit = "epochs",
                 .range = {1e-6, 1e6},
                 .unset_doc = "`steps` decides",
                 .elsewhere = "transformers: `num_train_epochs`"});
  visitor.Field("steps", train.steps,
                {.doc = "optimizer steps",
                 .unit = "steps",
                 .range = {1, 1e12},
                 .unset_doc = "`epochs` decides",
                 .elsewhere = "transformers: `max_steps`"});
  visitor.Field("accumulate", train.accumulate,
                {.doc = "batches of a step; its gradient is their mean",
                 .unit = "batches",
                 .range = {1, 65536},
                 .elsewhere = "transformers: `gradient_accumulation_steps`"});
  visitor.Field(
      "chunk_tokens", train.chunk_tokens,
      {.doc = "gradient cache in chunks of this size; 0: off",
       .unit = "tokens",
       .range = {0, 1e9},
       .elsewhere = "sentence-transformers: `mini_batch_num_tokens` of its Cached losses"});
  visitor.Field("reduce", train.reduce,
                {.doc = "how gradients travel between the processes of a job",
                 .choices = kReduceTypes,
                 .elsewhere = "PyTorch: DDP's bf16_compress_hook"});
  visitor.Field("checkpoint_every", train.checkpoint_every,
                {.doc = "of the run's steps; 0: only at the end",
                 .unit = "steps",
                 .on_resume = OnResume::kMayChange});
  visitor.Field("keep_checkpoints", train.keep_checkpoints,
                {.doc = "how many of the last checkpoints stay in the run folder, beside the best "
                        "weights, also when the run is finished",
                 .unit = "checkpoints",
                 .range = {1, 1e6},
                 .unset_doc = "2 while the run is under way; of a finished run what a longer one "
                              "would go on from",
                 .on_resume = OnResume::kMayChange});
}

template <MaybeConst<Recipe> R, typename Visitor>
void VisitRecipe(R& recipe, Visitor& visitor) {
  VisitRun(recipe, visitor);
  VisitModel(recipe.model, visitor);
  VisitLora(recipe.lora, visitor);
  VisitData(recipe.data, visitor);
  visitor.Table("sampling", "Which examples come next; further keys are the sampler's parameters");
  visitor.Entry(recipe.sampling, {.doc = "the sampler; `tandem list samplers` says what each is"});
  visitor.Field("no_duplicates", recipe.sampling.no_duplicates,
                {.doc = "where a query text or a document text may be in a batch twice",
                 .choices = kDuplicates});
  visitor.Field("by_task", recipe.sampling.by_task,
                {.doc = "all queries of a batch are of one task", .condition = kSeveralTasks});
  visitor.Field("similar_lengths", recipe.sampling.similar_lengths,
                {.doc = "queries of a batch have similar lengths, each with its paired document"});
  VisitMining(recipe.mining, visitor);
  visitor.Table("objective", "What is minimised; further keys are the objective's parameters");
  visitor.Entry(recipe.objective,
                {.doc = "which one; `tandem list objectives` says what each is", .required = true});
  VisitOptimizer(recipe.optimizer, visitor);
  visitor.Table("schedule",
                "How the learning rate moves; further keys are the schedule's parameters");
  visitor.Entry(recipe.schedule, {.doc = "the shape; `tandem list schedules` says what each is"});
  visitor.Field("warmup", recipe.schedule.warmup,
                {.doc = "linear rise from 0, a share of the run's steps or a count",
                 .unit = "steps",
                 .elsewhere = "transformers: `warmup_ratio`, `warmup_steps`"});
  VisitTrain(recipe.train, visitor);
  VisitValidation(recipe.validation, visitor);
  visitor.Table("logging", "What is written while training");
  visitor.Field("every", recipe.logging.every,
                {.doc = "steps from one line of metrics.jsonl to the next",
                 .unit = "steps",
                 .range = {1, 1e9},
                 .on_resume = OnResume::kMayChange});
}

}  // namespace tandem::config
