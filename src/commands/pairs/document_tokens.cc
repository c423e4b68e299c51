#include "commands/pairs/document_tokens.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/load/known_files.h"
#include "text/tokenizer.h"
#include "weights/folders/tower_folders.h"
#include "weights/settings/tokenizer_settings.h"

namespace tandem::app {

documents::PassageCutter CutterFor(const PairsOptions& options) {
  const weights::TowerFolders towers = weights::ReadTowerFolders(options.model.model);
  const weights::ModelFolder& tower = towers.document ? *towers.document : towers.query;
  const size_t most = towers.file.max_document_tokens.value_or(tower.tokenizer.max_tokens.tokens);
  const size_t wanted = *options.passage_tokens;
  if (most != 0 && wanted > most) {
    throw UsageError(fmt::format(
        "--passage-tokens is {}, but {} reads {} tokens of a document; give at most that", wanted,
        options.model.model, most));
  }
  const std::shared_ptr<const text::Tokenizer> tokenizer =
      text::LoadTokenizer(tower.tokenizer.folder, {.lower_case = tower.tokenizer.lower_case},
                          tower.tokenizer.KnownFiles());
  const auto count = [tokenizer, prompt = tower.document_prompt()](std::string_view text) {
    std::vector<int32_t> ids;
    if (prompt.empty()) {
      tokenizer->Encode(text, 0, &ids);
    } else {
      tokenizer->Encode(prompt + std::string(text), 0, &ids);
    }
    return ids.size();
  };
  return documents::PassageCutter({.most_tokens = wanted, .overlap = options.passage_overlap},
                                  count);
}

}  // namespace tandem::app
