#include "app/serve_backend.h"

#include <ATen/core/grad_mode.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "app/globals.h"
#include "app/load_model.h"
#include "app/model_calibration.h"
#include "base/error.h"
#include "model/prompt_lengths.h"
#include "search/length_batches.h"
#include "tensor/precision.h"
#include "tensor/process.h"

namespace tandem::app {
namespace {

// Tokens of a forward pass, as in search::EncodeOptions.
constexpr search::BatchTokens kBatchTokens{.whole = 4096, .of_thread = 768};

model::TextKind KindOf(serve::TextKind kind) {
  return kind == serve::TextKind::kQuery ? model::TextKind::kQuery : model::TextKind::kDocument;
}

// Texts of one pass each, and where their embeddings go.
struct Pass {
  text::EncodedTexts texts;
  std::vector<int32_t> prompts;  // tokens of each text's prompt; empty: pooling takes them in
  std::vector<float*> rows;
};

class ModelBackend final : public serve::Backend {
 public:
  explicit ModelBackend(const ServeCommandOptions& options)
      : model_(LoadModel(options.model)),
        precision_(BulkOptions().precision),
        calibration_(CalibrationOf(*model_, options.model)) {
    for (const auto kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
      model_->Prepare(kind, precision_, tensor::Passes::kForward);
      prompt_tokens_.push_back(
          model::PromptLengths(model_->tokenizer(kind), model_->max_tokens(kind))
              .Of(model_->prompt(kind)));
    }
    const std::string& precision = GlobalOptions().precision;
    info_ = {.model = options.name.empty() ? FolderName(options.model.model) : options.name,
             .width = static_cast<size_t>(model_->embedding_width()),
             .similarity = model_->similarity(),
             .precision = precision.empty() ? "fp32" : precision,
             .max_query_tokens = model_->max_tokens(model::TextKind::kQuery),
             .max_document_tokens = model_->max_tokens(model::TextKind::kDocument),
             .calibrated = calibration_.has_value()};
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
    // A new thread begins with OpenMP's own number of threads.
    static thread_local const bool set_up = (tensor::SetUpProcess(GlobalOptions().threads), true);
    static_cast<void>(set_up);
    const at::NoGradGuard no_gradient;
    if (model_->shared()) return EncodeItems(batch, std::nullopt);
    EncodeItems(batch, serve::TextKind::kQuery);
    EncodeItems(batch, serve::TextKind::kDocument);
  }

  std::optional<double> Probability(double score) const override {
    return calibration_ ? std::optional(calibration_->Probability(score)) : std::nullopt;
  }

  void CheckSearch(const serve::SearchOptions&) const override {}
  std::vector<std::vector<serve::Found>> Search(const float*, size_t, const serve::SearchOptions&,
                                                const serve::EmbedTexts&) const override {
    throw UsageError("this server has no index");
  }

 private:
  // Encodes the items of one kind, or of both together where they share the encoder.
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
    search::ForLengthBatches(pass.texts, kBatchTokens, [&](std::span<const size_t> texts, size_t) {
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
    const at::Tensor rows =
        model_->Encode(tensor::Pack(ids, {}, prompts), KindOf(kind), {.precision = precision_})
            .contiguous();
    for (size_t i = 0; i < texts.size(); ++i) {
      std::memcpy(pass.rows[texts[i]], rows.data_ptr<float>() + i * info_.width,
                  info_.width * sizeof(float));
    }
  }

  std::unique_ptr<model::DualEncoder> model_;
  tensor::Precision precision_;
  std::optional<weights::Calibration> calibration_;
  std::vector<int32_t> prompt_tokens_;  // of queries, of documents
  serve::BackendInfo info_;
};

}  // namespace

std::shared_ptr<serve::Backend> OpenServeBackend(const ServeCommandOptions& options) {
  ServeCommandOptions of_model = options;
  of_model.model.model = options.source;
  return std::make_shared<ModelBackend>(of_model);
}

}  // namespace tandem::app
