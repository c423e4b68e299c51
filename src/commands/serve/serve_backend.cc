#include "commands/serve/serve_backend.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "commands/guarantees/kept_promise.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/serve/served_promises.h"
#include "data/texts/passage_groups.h"
#include "index/building/index_model.h"
#include "index/document_index.h"
#include "index/folder/index_folder.h"
#include "index/query/answers.h"
#include "index/query/document_answers.h"
#include "index/query/filter.h"
#include "model/prompt_lengths.h"
#include "search/length_batches.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"

namespace tandem::app {
namespace {

model::TextKind KindOf(serve::TextKind kind) {
  return kind == serve::TextKind::kQuery ? model::TextKind::kQuery : model::TextKind::kDocument;
}

// Texts of which each is encoded in one forward pass, and the destinations of their embeddings.
struct Pass {
  text::EncodedTexts texts;
  std::vector<int32_t> prompts;  // tokens of each text's prompt; empty: pooling includes prompts
  std::vector<float*> rows;
};

// The model that is served, loaded as the flags and, if there is one, the index say.
struct Served {
  std::unique_ptr<model::DualEncoder> model;
  ModelFlags flags;        // `model` is the folder that it was loaded from
  std::string name;        // for clients
  std::string model_name;  // BackendInfo::model_name
  std::shared_ptr<const index::DocumentIndex> index;  // null: no index
};

class ModelBackend final : public serve::Backend {
 public:
  ModelBackend(Served served, const ServeCommandOptions& options)
      : globals_(options.globals),
        model_(std::move(served.model)),
        index_(std::move(served.index)),
        precision_(BulkOptions(globals_).precision),
        calibration_(CalibrationOf(*model_, served.flags)),
        min_probability_(LeastProbability(options.min_probability,
                                          index_ ? index_->info().min_probability : std::nullopt)),
        promises_(served.flags.model, options.keep, *model_, globals_,
                  index_ ? SearchedCorpus{.documents = index_->info().documents,
                                          .precision = index_->info().model.precision}
                         : SearchedCorpus()) {
    if (index_) WarnOfApproximate(promises_.promises(), options.source);
    CheckIndexProbability(calibration_, options.min_probability,
                          index_ ? index_->info().min_probability : std::nullopt,
                          served.flags.model);
    CheckProbabilities(calibration_, min_probability_, served.flags.model);
    for (const auto kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
      model_->Prepare(kind, precision_, tensor::Passes::kForward);
      prompt_tokens_.push_back(
          model::PromptLengths(model_->tokenizer(kind), model_->max_tokens(kind))
              .Of(model_->prompt(kind)));
    }
    info_ = {.model = options.name.empty() ? served.name : options.name,
             .model_name = served.model_name,
             .width = static_cast<size_t>(model_->embedding_width()),
             .similarity = model_->similarity(),
             .precision = std::string(tensor::PrecisionName(precision_)),
             .max_query_tokens = model_->max_tokens(model::TextKind::kQuery),
             .max_document_tokens = model_->max_tokens(model::TextKind::kDocument),
             .calibrated = calibration_.has_value(),
             .promises = promises_.names(),
             .keep = promises_.by_default(),
             .index = index_ ? std::optional(Description(index_->info())) : std::nullopt};
    if (info_.index) info_.index->by_document = options.by_document;
  }

  const serve::BackendInfo& info() const override { return info_; }

  void Tokenize(std::string_view text, serve::TextKind kind,
                text::EncodedTexts* texts) const override {
    const model::TextKind of_model = KindOf(kind);
    const std::string& prompt = model_->prompt(of_model);
    const text::Tokenizer& tokenizer = model_->tokenizer(of_model);
    const size_t limit = model_->max_tokens(of_model);
    const bool cut = prompt.empty()
                         ? tokenizer.Encode(text, limit, &texts->ids)
                         : tokenizer.Encode(prompt + std::string(text), limit, &texts->ids);
    texts->truncated += cut ? 1 : 0;
    texts->starts.push_back(static_cast<int64_t>(texts->ids.size()));
  }

  void Encode(std::span<const serve::EncodeItem> batch) override {
    // A new thread would use OpenMP's default number of threads.
    static thread_local const bool set_up = (tensor::SetUpProcess(globals_.threads), true);
    static_cast<void>(set_up);
    const tensor::NoGradGuard no_gradient;
    if (model_->shared()) return EncodeItems(batch, std::nullopt);
    EncodeItems(batch, serve::TextKind::kQuery);
    EncodeItems(batch, serve::TextKind::kDocument);
  }

  std::optional<double> Probability(double score) const override {
    return calibration_ ? std::optional(calibration_->Probability(score)) : std::nullopt;
  }

  std::optional<serve::KeptPromise> Kept(const serve::SearchOptions& options) const override {
    const weights::Guarantee* kept = promises_.Of(options);
    if (kept == nullptr) return std::nullopt;
    return serve::KeptPromise{.name = kept->Name(),
                              .sentence = kept->promise.Sentence(),
                              .threshold = kept->threshold,
                              .depth = kept->depth};
  }

  std::optional<serve::QueryWatch> watched() const override { return promises_.watched(); }

  void CheckSearch(const serve::SearchOptions& options) const override {
    if (promises_.Of(options) == nullptr &&
        LeastProbability(options.min_probability, min_probability_) && !calibration_) {
      throw UsageError(
          "`min_probability` needs a calibrated model (tandem calibrate), which this one is not");
    }
    FilterOf(options);
  }

  std::vector<std::vector<serve::Found>> Search(const float* queries, size_t count,
                                                const serve::SearchOptions& options,
                                                const serve::EmbedTexts& embed) const override {
    std::vector<float> best;
    const index::AnswerOptions answer = AnswerOptionsOf(options, &best);
    const weights::Calibration* const calibration = calibration_ ? &*calibration_ : nullptr;
    const std::vector<std::vector<index::Answer>> answers =
        options.by_document
            ? index::FindDocuments(*index_, queries, count, answer, calibration)
            : index::FindAnswers(*index_, queries, count, answer, calibration, embed);
    // A filter chooses among documents, and the calibration had none.
    if (options.watch && options.filter.empty()) promises_.Watch(best);
    std::vector<std::vector<serve::Found>> results(answers.size());
    for (size_t q = 0; q < answers.size(); ++q) {
      for (const index::Answer& one : answers[q]) {
        serve::Found& found = results[q].emplace_back();
        found = {.id = index_->id(one.document),
                 .score = one.score,
                 .probability = one.probability,
                 .text = index_->text(one.document),
                 .title = index_->title(one.document)};
        if (options.by_document) {
          const std::string_view document = data::DocumentOfPassage(found.id);
          if (document != found.id) found.passage = std::exchange(found.id, document);
        }
        if (one.highlight) found.highlight = {one.highlight->begin, one.highlight->end};
      }
    }
    return results;
  }

 private:
  static serve::IndexDescription Description(const index::IndexInfo& info) {
    serve::IndexDescription description{
        .kind = info.kind, .documents = info.documents, .texts = info.texts};
    for (const data::MetadataField& field : info.fields) {
      description.fields.push_back({field.name, std::string(data::MetadataTypeName(field.type))});
    }
    return description;
  }

  index::AnswerOptions AnswerOptionsOf(const serve::SearchOptions& options,
                                       std::vector<float>* best) const {
    index::AnswerOptions answer{
        .k = options.k,
        .min_score = options.min_score,
        .min_probability = LeastProbability(options.min_probability, min_probability_),
        .filter = FilterOf(options),
        .highlight = options.highlight,
        .threads = ThreadsOf(globals_),
        .best_scores = options.by_document ? nullptr : best};
    if (const weights::Guarantee* kept = promises_.Of(options)) {
      answer.min_score = kept->threshold;
      answer.min_probability.reset();
    }
    return answer;
  }

  index::Filter FilterOf(const serve::SearchOptions& options) const {
    if (options.filter.empty()) return {};
    return index::FilterFromJson(options.filter, index_->info().fields);
  }

  // Encodes the items of one kind, or of both together if they share the encoder.
  void EncodeItems(std::span<const serve::EncodeItem> batch, std::optional<serve::TextKind> kind) {
    Pass pass;
    const bool prompts = !model_->include_prompt(KindOf(kind.value_or(serve::TextKind::kQuery)));
    for (const serve::EncodeItem& item : batch) {
      if (kind && item.kind != *kind) continue;
      pass.texts.ids.insert(pass.texts.ids.end(), item.ids.begin(), item.ids.end());
      pass.texts.starts.push_back(static_cast<int64_t>(pass.texts.ids.size()));
      pass.rows.push_back(item.row);
      if (prompts) pass.prompts.push_back(prompt_tokens_[static_cast<size_t>(item.kind)]);
    }
    if (pass.rows.empty()) return;
    search::ForLengthBatches(pass.texts, batch_tokens_, [&](std::span<const size_t> texts, size_t) {
      Forward(pass, texts, kind.value_or(serve::TextKind::kQuery));
    });
  }

  void Forward(const Pass& pass, std::span<const size_t> texts, serve::TextKind kind) {
    std::vector<std::span<const int32_t>> ids;
    std::vector<int32_t> prompts;
    for (const size_t text : texts) {
      ids.push_back(pass.texts[text]);
      if (!pass.prompts.empty()) prompts.push_back(pass.prompts[text]);
    }
    const tensor::Tensor rows = tensor::OnCpu(
        model_->Encode(tensor::Pack(ids, {}, prompts), KindOf(kind), {.precision = precision_}));
    for (size_t i = 0; i < texts.size(); ++i) {
      std::memcpy(pass.rows[texts[i]], rows.data_ptr<float>() + i * info_.width,
                  info_.width * sizeof(float));
    }
  }

  const Globals globals_;
  std::unique_ptr<model::DualEncoder> model_;
  std::shared_ptr<const index::DocumentIndex> index_;
  tensor::Precision precision_;
  std::optional<weights::Calibration> calibration_;
  std::optional<double> min_probability_;  // where a request asks for none
  ServedPromises promises_;
  // Batches have the same size as in bulk encoding.
  const search::BatchTokens batch_tokens_ =
      search::BatchTokensOn(model_->device(), search::EncodeOptions());
  std::vector<int32_t> prompt_tokens_;  // of the query prompt and the document prompt
  serve::BackendInfo info_;
};

// Opens an index and loads the model that it was made with; refuses another model.
Served OpenIndex(const ServeCommandOptions& options) {
  ModelFlags flags = options.model;
  if (flags.max_document_tokens || flags.dimensions) {
    throw UsageError(
        "the documents of an index are encoded already; --max-document-tokens and --dimensions are "
        "for a model");
  }
  tensor::SetUpProcess(options.globals.threads);
  auto opened = index::DocumentIndex::Open(options.source);
  const index::IndexInfo& info = opened->info();
  model::LoadOptions load = index::LoadOptionsOf(info.model);
  load.max_query_tokens = flags.max_query_tokens;
  load.chosen_query_prompt = flags.prompt;
  auto model = index::LoadIndexModel(info, load, flags.model);
  model->To(CommandDevice(options.globals));
  if (flags.model.empty()) {
    flags.model = info.model.path;
  }
  // A model that was copied into the index is named by the index.
  const std::filesystem::path folder = std::filesystem::absolute(options.source) / "";
  const bool copied = flags.model.starts_with(folder.lexically_normal().native());
  std::string model_name = info.model.name;
  return {std::move(model), flags, FolderName(copied ? options.source : flags.model),
          std::move(model_name), std::move(opened)};
}

Served OpenModel(const ServeCommandOptions& options) {
  if (!options.model.model.empty()) {
    throw UsageError(fmt::format("{} is no index: --model is for an index whose model has moved",
                                 options.source));
  }
  if (options.min_probability) {
    throw UsageError(fmt::format("{} is no index: --min-probability is for the hits of an index",
                                 options.source));
  }
  if (!options.keep.empty()) {
    throw UsageError(
        fmt::format("{} is no index: --keep is for the hits of an index", options.source));
  }
  if (options.by_document) {
    throw UsageError(
        fmt::format("{} is no index: --by-document is for the hits of an index", options.source));
  }
  ModelFlags flags = options.model;
  flags.model = options.source;
  auto model = LoadModel(options.globals, flags);
  std::string model_name = index::NameOfModel(flags.model);
  return {std::move(model), flags, FolderName(flags.model), std::move(model_name), nullptr};
}

}  // namespace

std::shared_ptr<serve::Backend> OpenServeBackend(const ServeCommandOptions& options) {
  return std::make_shared<ModelBackend>(
      index::IsIndex(options.source) ? OpenIndex(options) : OpenModel(options), options);
}

}  // namespace tandem::app
