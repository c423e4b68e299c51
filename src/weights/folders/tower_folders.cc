#include "weights/folders/tower_folders.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "weights/modules/router.h"

namespace tandem::weights {
namespace {

constexpr const char* kQuery = "query";
constexpr const char* kDocument = "document";

ModelFolder ReadTower(const ModelFiles& files, const char* name, Towers towers,
                      const ReadOptions& options) {
  if (!files.Has(name)) {
    throw ModelError(
        files.PathOf(name).native(), "",
        fmt::format("is missing; {} says \"{}\": one encoder in {}, one in {}",
                    files.PathOf(kTandemFile).native(), TowersName(towers), kQuery, kDocument));
  }
  return ReadModelFolder(files.Below(name), options);
}

// A folder that sentence-transformers wrote.
void ReadRouter(const ModelFiles& files, TowerFolders* folders) {
  const Routes routes = ReadRoutes(files);
  folders->file.towers = routes.towers;
  folders->query = ReadRouteFolder(files, routes.query, routes.file);
  if (routes.towers != Towers::kShared) {
    folders->document = ReadRouteFolder(files, routes.document, routes.file);
  }
}

void TakeIfNone(const std::optional<size_t>& value, std::optional<size_t>* to) {
  if (!*to) *to = value;
}

ModelCard CardOfTower(ModelCard card, const char* name, Towers towers) {
  card.tower = name;
  card.facts.insert(card.facts.begin(), {"towers", std::string(TowersName(towers))});
  return card;
}

}  // namespace

TowerFolders ReadTowerFolders(const ModelFiles& files, const ReadOptions& options) {
  TowerFolders folders;
  folders.file = ReadTandemFile(files);
  if (folders.file.towers != Towers::kShared) {
    folders.query = ReadTower(files, kQuery, folders.file.towers, options);
    folders.document = ReadTower(files, kDocument, folders.file.towers, options);
  } else if (IsRouterFolder(files)) {
    ReadRouter(files, &folders);
  } else {
    folders.query = ReadModelFolder(files, options);
  }
  const ModelFolder& document = folders.document ? *folders.document : folders.query;
  TakeIfNone(folders.query.tokenizer.max_query_tokens, &folders.file.max_query_tokens);
  TakeIfNone(document.tokenizer.max_document_tokens, &folders.file.max_document_tokens);
  return folders;
}

void WriteTowerFolders(const TandemFile& file, const TowerToWrite& query,
                       const TowerToWrite& document, const ModelCard& card,
                       const std::filesystem::path& path) {
  CheckModelTarget(query.source, path);
  CheckModelTarget(document.source, path);
  AtomicFolder target(path);
  WriteModelFolder(query.source, query.changes, CardOfTower(card, kQuery, file.towers),
                   target.staging() / kQuery);
  WriteModelFolder(document.source, document.changes, CardOfTower(card, kDocument, file.towers),
                   target.staging() / kDocument);
  WriteRouter(target.staging(), kQuery, kDocument, file.towers);
  WriteFileAtomically(target.staging() / kTandemFile, TandemFileText(file));
  target.Commit();
}

}  // namespace tandem::weights
