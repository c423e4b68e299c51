#include "model/dual_encoder.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "model/tower.h"
#include "model/two_towers.h"
#include "weights/tower_folders.h"

namespace tandem::model {
namespace {

using weights::Towers;
using weights::TowersName;

class SharedEncoder final : public DualEncoder {
 public:
  explicit SharedEncoder(Tower tower) : tower_(std::move(tower)) {}

  void Prepare(TextKind, tensor::Precision precision, tensor::Passes passes) override {
    tower_.Prepare(precision, passes);
  }
  at::Tensor Encode(const tensor::PackedTokens& tokens, TextKind,
                    const ForwardOptions& options) const override {
    return tower_.Encode(tokens, options);
  }
  bool shared() const override { return true; }
  int64_t embedding_width() const override { return tower_.folder().embedding_width; }
  std::vector<NamedParameter> Parameters() override { return tower_.Parameters(); }
  const text::Tokenizer& tokenizer(TextKind) const override { return tower_.tokenizer(); }
  size_t max_tokens(TextKind kind) const override { return tower_.max_tokens(kind); }
  const std::string& prompt(TextKind kind) const override { return tower_.prompt(kind); }
  const std::string& similarity() const override { return tower_.similarity(); }
  std::string settings() const override { return tower_.settings(); }
  double flops_per_token() const override { return tower_.flops_per_token(); }

  void Save(const std::filesystem::path& path, const weights::ModelCard& card) const override {
    weights::FolderChanges changes = tower_.Changes();
    const weights::TandemFile file{.calibration = card.calibration};
    if (!file.empty()) changes.further_files[weights::kTandemFile] = TandemFileText(file);
    weights::WriteModelFolder(tower_.folder(), changes, card, path);
  }

 private:
  Tower tower_;
};

// What only a folder of one encoder can be started with.
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

// Both folders of two towers, and how they share; nothing where one encoder is both.
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
  folders.document = weights::ReadModelFolder(other);
  folders.file.towers = towers;
  return std::move(folders);
}

}  // namespace

std::unique_ptr<DualEncoder> DualEncoder::Load(const std::filesystem::path& folder,
                                               const LoadOptions& options) {
  weights::TowerFolders folders = weights::ReadTowerFolders(folder);
  if (std::optional<weights::TowerFolders> two = TwoFolders(folders, folder, options)) {
    return MakeTwoTowers(std::move(*two), options);
  }
  return std::make_unique<SharedEncoder>(Tower(std::move(folders.query), options));
}

}  // namespace tandem::model
