#include "model/dual_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "model/tower.h"
#include "model/two_towers.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"
#include "weights/folders/tower_folders.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::model {
namespace {

using weights::Towers;
using weights::TowersName;

class SharedEncoder final : public DualEncoder {
 public:
  explicit SharedEncoder(Tower tower) : tower_(std::move(tower)) {
    set_similarity(std::string(weights::SimilarityName(tower_.folder().similarity)));
  }

  void Prepare(TextKind, tensor::Precision precision, tensor::Passes passes) override {
    tower_.Prepare(precision, passes);
  }
  tensor::Tensor Encode(const tensor::PackedTokens& tokens, TextKind,
                        const ForwardOptions& options) const override {
    return tower_.Encode(tokens, options);
  }
  void MoveTo(tensor::Device device) override { tower_.To(device); }
  bool shared() const override { return true; }
  int64_t embedding_width() const override { return tower_.embedding_width(); }
  std::vector<NamedParameter> Parameters() override { return tower_.Parameters(); }
  bool adapted() const override { return tower_.adapted(); }
  bool packs_on_use() const override { return tower_.packs_on_use(); }
  void SaveAdapter(const std::filesystem::path& path,
                   const std::pair<std::string, std::string>& bases) const override {
    tower_.SaveAdapter(path, bases.first, SavedSettings());
  }
  const text::Tokenizer& tokenizer(TextKind) const override { return tower_.tokenizer(); }
  size_t max_tokens(TextKind kind) const override { return tower_.max_tokens(kind); }
  const std::string& prompt(TextKind kind) const override { return tower_.prompt(kind); }
  std::string ChoosePrompt(TextKind, std::string_view choice) const override {
    return weights::ChoosePrompt(tower_.folder(), choice);
  }
  tensor::Tensor Cut(const tensor::Tensor& rows, TextKind, int64_t width) const override {
    return tower_.Cut(rows, width);
  }
  bool include_prompt(TextKind) const override { return tower_.include_prompt(); }
  std::string settings() const override { return tower_.settings(); }
  std::string adapter_settings() const override { return tower_.adapter_settings(); }
  void ReleasePages() const override { tower_.ReleasePages(); }
  double flops_per_token() const override { return tower_.flops_per_token(); }

  void Save(const std::filesystem::path& path, const weights::ModelCard& card) const override {
    weights::FolderChanges changes = tower_.Changes(SavedSettings());
    changes.further_files[weights::kTandemFile] =
        weights::TandemFileText({.max_query_tokens = max_tokens(TextKind::kQuery),
                                 .max_document_tokens = max_tokens(TextKind::kDocument),
                                 .calibration = calibration(),
                                 .stopped = card.stopped});
    weights::WriteModelFolder(tower_.folder(), changes, card, path);
  }

 private:
  Tower tower_;
};

// Throws for options that apply only to a base of one encoder.
void CheckFitsTwoEncoders(const std::filesystem::path& folder, Towers towers,
                          const LoadOptions& options) {
  if (options.towers.value_or(towers) != towers) {
    throw UsageError(
        fmt::format("{}: is a model of two encoders, \"{}\"; it cannot be started as \"{}\"",
                    folder.native(), TowersName(towers), TowersName(*options.towers)));
  }
  if (!options.document_folder.empty() || options.projection) {
    throw UsageError(
        fmt::format("{}: is a model of two encoders; {} can be given for a base of one encoder",
                    folder.native(), options.projection ? "a projection" : "a document base"));
  }
}

// The folders of two towers and how these share; nothing where one encoder is both towers.
std::optional<weights::TowerFolders> TwoFolders(weights::TowerFolders& folders,
                                                const std::filesystem::path& folder,
                                                const LoadOptions& options) {
  if (folders.document) {
    CheckFitsTwoEncoders(folder, folders.file.towers, options);
    return std::move(folders);
  }
  const Towers towers = options.towers.value_or(Towers::kShared);
  if (towers == Towers::kShared) {
    if (options.document_folder.empty()) return std::nullopt;
    throw UsageError("a base of the document tower needs towers that are not shared");
  }
  const std::filesystem::path& other =
      options.document_folder.empty() ? folder : options.document_folder;
  // One folder is read once, so that both towers share its memory.
  folders.document = options.document_folder.empty()
                         ? folders.query
                         : weights::ReadModelFolder(other, {.of_classifier = options.head});
  folders.file.towers = towers;
  folders.file.max_document_tokens =
      weights::ReadTandemFile(folders.document->files).max_document_tokens;
  return std::move(folders);
}

// Says whether the model's scores are others than those that the folder's calibration was made for.
bool MakesOtherScores(const weights::ModelFolder& folder, const LoadOptions& options) {
  const auto width_of = [&](int64_t dimensions) {
    return dimensions > 0 ? std::min(dimensions, folder.embedding_width) : folder.embedding_width;
  };
  if (options.dimensions &&
      width_of(*options.dimensions) != width_of(folder.truncate_dim.value_or(0))) {
    return true;
  }
  if (options.layers && std::cmp_less(*options.layers, folder.encoder.layers.size())) return true;
  if (options.reinitialize_layers > 0) return true;
  if (options.projection || options.head || !options.document_folder.empty()) return true;
  if (!options.training.adapter.empty()) return true;
  const weights::Pooling& pooling = weights::PoolingOf(folder);
  const auto& [mode, include_prompt] = options.pooling;
  return (mode && pooling.modes != std::vector{*mode}) ||
         (include_prompt && pooling.include_prompt != *include_prompt) ||
         (options.is_causal &&
          *options.is_causal != folder.encoder.layers.front().attention.causal);
}

}  // namespace

void MoveParameters(const std::vector<NamedParameter>& parameters, tensor::Device device) {
  for (const NamedParameter& parameter : parameters) {
    parameter.value.set_grad(tensor::Tensor());
    parameter.value.set_data(tensor::MovedTo(parameter.value.detach(), device));
  }
}

std::vector<NamedParameter> TrainedOf(std::vector<NamedParameter> parameters) {
  std::erase_if(parameters, [](const NamedParameter& parameter) { return !parameter.trained(); });
  return parameters;
}

void DualEncoder::To(tensor::Device device) {
  if (device == device_) return;
  MoveTo(device);
  device_ = device;
}

std::string DualEncoder::ChoosePrompt(TextKind, std::string_view) const {
  throw std::logic_error("a model without a folder was asked for one of its prompts");
}

tensor::Tensor DualEncoder::Cut(const tensor::Tensor&, TextKind, int64_t) const {
  throw std::logic_error("a model without a folder was asked to cut embeddings");
}

void DualEncoder::SaveAdapter(const std::filesystem::path&,
                              const std::pair<std::string, std::string>&) const {
  throw std::logic_error("a model without adapters was asked to save them");
}

std::unique_ptr<DualEncoder> DualEncoder::Load(const std::filesystem::path& folder,
                                               const LoadOptions& options) {
  const weights::ModelFiles files(folder);
  weights::TowerFolders folders = weights::ReadTowerFolders(files, {.of_classifier = options.head});
  std::optional<weights::Calibration> calibration = folders.file.calibration;
  if (calibration && MakesOtherScores(folders.query, options)) {
    Note(
        fmt::format("{}: its probability is left out, since this model makes other scores than "
                    "those that it was made for",
                    (folder / weights::kTandemFile).native()));
    calibration.reset();
  }
  std::unique_ptr<DualEncoder> model;
  std::optional<weights::TowerFolders> two = TwoFolders(folders, folder, options);
  if (!options.document_prompt) {
    weights::WarnOfUnusedDocumentPrompt(two ? *two->document : folders.query);
  }
  if (two) {
    model = MakeTwoTowers(std::move(*two), options);
  } else {
    LoadOptions one = options;
    one.training.adapter = AdapterOf(options.training, "");
    model = std::make_unique<SharedEncoder>(Tower(std::move(folders.query), one, folders.file));
  }
  model->set_calibration(calibration);
  files.Forget();
  return model;
}

}  // namespace tandem::model
