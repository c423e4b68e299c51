#include "model/two_towers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "model/tower.h"
#include "tensor/core/tensor.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::model {
namespace {

using weights::Towers;

// One of two towers gets texts of one kind. It is given its own kind's length for both kinds; the
// other kind's prompt is left as its folder has it.
Tower QueryTower(weights::TowerFolders& folders, LoadOptions options) {
  weights::TandemFile file = folders.file;
  file.max_document_tokens = file.max_query_tokens;
  options.max_document_tokens = options.max_query_tokens;
  options.training.adapter = AdapterOf(options.training, "query");
  options.document_prompt.reset();
  options.chosen_document_prompt.reset();
  return Tower(std::move(folders.query), options, file);
}
Tower DocumentTower(weights::TowerFolders& folders, LoadOptions options) {
  weights::TandemFile file = folders.file;
  file.max_query_tokens = file.max_document_tokens;
  options.max_query_tokens = options.max_document_tokens;
  options.training.adapter = AdapterOf(options.training, "document");
  options.query_prompt.reset();
  options.chosen_query_prompt.reset();
  return Tower(std::move(*folders.document), options, file);
}

void CheckTogether(const Tower& query, const Tower& document) {
  const weights::ModelFolder &q = query.folder(), &d = document.folder();
  if (query.embedding_width() != document.embedding_width()) {
    throw ModelError(
        d.path.native(), "",
        fmt::format("makes embeddings of {} numbers, {} of {}; two towers need one "
                    "width: model.projection brings both to it",
                    document.embedding_width(), q.path.native(), query.embedding_width()));
  }
  if (q.similarity != d.similarity) {
    throw ModelError(
        d.path.native(), "",
        fmt::format("compares by {}, {} by {}; two towers need one similarity "
                    "(similarity_fn_name in config_sentence_transformers.json)",
                    SimilarityName(d.similarity), q.path.native(), SimilarityName(q.similarity)));
  }
}

// Both towers' last Dense modules become one. They must be equal: nobody can say which one to keep.
void ShareProjection(Tower& query, Tower& document) {
  for (const Tower* tower : {&query, &document}) {
    if (tower->head().projection() != nullptr) continue;
    throw ModelError(tower->folder().path.native(), "",
                     "has no Dense module for two towers to share; give model.projection, the "
                     "width of a new one");
  }
  if (document.head().ShareProjection(query.head())) return;
  throw ModelError(
      document.folder().path.native(), "",
      fmt::format("its last Dense module is not that of {} (shape, bias, activation or weights); "
                  "two towers can share only equal ones, after encoders of one hidden size",
                  query.folder().path.native()));
}

bool IsAmong(const std::vector<NamedParameter>& parameters, const NamedParameter& wanted) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const NamedParameter& parameter) {
    return parameter.value.is_same(wanted.value);
  });
}

class TwoTowers final : public DualEncoder {
 public:
  TwoTowers(Towers towers, Tower query, Tower document)
      : towers_(towers), query_(std::move(query)), document_(std::move(document)) {
    CheckTogether(query_, document_);
    set_similarity(std::string(weights::SimilarityName(query_.folder().similarity)));
    if (towers_ == Towers::kSeparateSharedProjection) ShareProjection(query_, document_);
  }

  void Prepare(TextKind kind, tensor::Precision precision, tensor::Passes passes) override {
    (kind == TextKind::kQuery ? query_ : document_).Prepare(precision, passes);
  }
  tensor::Tensor Encode(const tensor::PackedTokens& tokens, TextKind kind,
                        const ForwardOptions& options) const override {
    return Of(kind).Encode(tokens, options);
  }
  void MoveTo(tensor::Device device) override {
    query_.To(device);
    document_.To(device);
  }
  bool shared() const override { return false; }
  int64_t embedding_width() const override { return query_.embedding_width(); }

  std::vector<NamedParameter> Parameters() override {
    std::vector<NamedParameter> all;
    const auto query = query_.Parameters(), document = document_.Parameters();
    for (const NamedParameter& parameter : query) {
      all.push_back(parameter);
      all.back().name = (IsAmong(document, parameter) ? "shared." : "query.") + parameter.name;
    }
    for (const NamedParameter& parameter : document) {
      if (IsAmong(query, parameter)) continue;
      all.push_back(parameter);
      all.back().name = "document." + parameter.name;
    }
    return all;
  }

  bool adapted() const override { return query_.adapted(); }
  bool packs_on_use() const override { return query_.packs_on_use() || document_.packs_on_use(); }
  void SaveAdapter(const std::filesystem::path& path,
                   const std::pair<std::string, std::string>& bases) const override {
    query_.SaveAdapter(path / "query", bases.first, SavedSettings());
    document_.SaveAdapter(path / "document", bases.second, SavedSettings());
  }
  const text::Tokenizer& tokenizer(TextKind kind) const override { return Of(kind).tokenizer(); }
  size_t max_tokens(TextKind kind) const override { return Of(kind).max_tokens(kind); }
  const std::string& prompt(TextKind kind) const override { return Of(kind).prompt(kind); }
  std::string ChoosePrompt(TextKind kind, std::string_view choice) const override {
    return weights::ChoosePrompt(Of(kind).folder(), choice);
  }
  tensor::Tensor Cut(const tensor::Tensor& rows, TextKind kind, int64_t width) const override {
    return Of(kind).Cut(rows, width);
  }
  bool include_prompt(TextKind kind) const override { return Of(kind).include_prompt(); }
  std::string settings() const override {
    return fmt::format("towers {}\nqueries:\n{}documents:\n{}", weights::TowersName(towers_),
                       query_.settings(), document_.settings());
  }
  std::string adapter_settings() const override {
    return query_.adapter_settings() + document_.adapter_settings();
  }
  void ReleasePages() const override {
    query_.ReleasePages();
    document_.ReleasePages();
  }
  double flops_per_token() const override {
    return (query_.flops_per_token() + document_.flops_per_token()) / 2;
  }

  void Save(const std::filesystem::path& path, const weights::ModelCard& card) const override {
    weights::WriteTowerFolders({.towers = towers_,
                                .max_query_tokens = max_tokens(TextKind::kQuery),
                                .max_document_tokens = max_tokens(TextKind::kDocument),
                                .calibration = calibration(),
                                .stopped = card.stopped},
                               {query_.folder(), query_.Changes(SavedSettings())},
                               {document_.folder(), document_.Changes(SavedSettings())}, card,
                               path);
  }

 private:
  const Tower& Of(TextKind kind) const { return kind == TextKind::kQuery ? query_ : document_; }

  Towers towers_;
  Tower query_;
  Tower document_;
};

}  // namespace

std::unique_ptr<DualEncoder> MakeTwoTowers(weights::TowerFolders folders,
                                           const LoadOptions& options) {
  const std::filesystem::path& adapter = options.training.adapter;
  if (!adapter.empty() && AdapterOf(options.training, "query") == adapter) {
    Note(fmt::format("{}: both towers start from this adapter", adapter.native()));
  }
  Tower query = QueryTower(folders, options);
  return std::make_unique<TwoTowers>(folders.file.towers, std::move(query),
                                     DocumentTower(folders, options));
}

}  // namespace tandem::model
