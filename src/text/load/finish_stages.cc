#include "text/load/finish_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem::text {
namespace {

std::vector<int32_t> IdsOf(const SpecialTokens& tokens) {
  std::vector<int32_t> ids = tokens.before;
  ids.insert(ids.end(), tokens.after.begin(), tokens.after.end());
  for (const PairPiece& piece : tokens.pair.pieces) ids.push_back(piece.id);
  return ids;
}

void CheckIds(const SpecialTokens& tokens, size_t vocabulary_size, const std::string& file) {
  for (const int32_t id : IdsOf(tokens)) {
    if (static_cast<size_t>(id) < vocabulary_size) continue;
    throw ModelError(file, "",
                     fmt::format("post_processor: id {} is not in the vocabulary, "
                                 "whose largest id is {}",
                                 id, vocabulary_size - 1));
  }
}

// Where the model has fewer rows than there are tokens, but all that the tokenizer's own file has,
// and those around texts, this is its rows. transformers, too, loads such a model, and fails at a
// text that has one of the others.
size_t UsableIds(const OwnStages& own, size_t own_ids, size_t rows) {
  const size_t all = own.vocabulary.size();
  size_t needed = own_ids;
  for (const int32_t id : IdsOf(own.around)) {
    needed = std::max(needed, static_cast<size_t>(id) + 1);
  }
  return rows == 0 || needed > rows ? all : std::min(all, rows);
}

std::string Described(const AddedToken& token) {
  return fmt::format("{} {:?} {} {} {} {} {}\n", token.id, token.content, token.single_word,
                     token.lstrip, token.rstrip, token.normalized, token.special);
}

std::string Described(const ClassParts& parts) {
  return fmt::format("{}\n{}\n{}\n{} {:?} {:?}\n", parts.normalizer, parts.pre_tokenizer,
                     parts.model, static_cast<int>(parts.frame.kind), parts.frame.first,
                     parts.frame.last);
}

}  // namespace

TokenizerStages FinishStages(OwnStages* own, AddedVocabulary* vocabulary, const FolderClass* folder,
                             const ClassParts& parts, const TokenizerOptions& options,
                             const std::string& file) {
  const size_t own_ids = own->vocabulary.size();
  bool split_special = false;
  std::string settings;
  if (folder != nullptr) {
    if (folder->chosen.kind != TokenizerClass::kFile) settings += Described(parts);
    for (const AddedToken& token :
         AddTokensOf(folder->arguments, parts, own->added, own->padding, vocabulary)) {
      settings += Described(token);
    }
    if (parts.frame.kind != ClassFrame::Kind::kOfFile) {
      own->around = TokensAround(parts.frame, *vocabulary, file);
    }
    own->cuts_left = CutsLeft(folder->arguments, own->cuts_left);
    split_special = folder->arguments.Flag("split_special_tokens", false);
    if (split_special) settings += "splits special tokens\n";
    if (folder->of_model && !GivesTokenTypes(*folder)) {
      for (PairPiece& piece : own->around.pair.pieces) piece.type = 0;
    }
  }
  if (own->cuts_left) settings += "cuts the beginning\n";
  CheckIds(own->around, own->vocabulary.size(), file);
  const size_t usable = UsableIds(*own, own_ids, options.rows);
  AddedTokens added =
      AddedTokens::Make(vocabulary->Patterns(), *own->normalizer, file, split_special);
  return {.normalizer = std::move(own->normalizer),
          .pre_tokenizer = std::move(own->pre_tokenizer),
          .model = std::move(own->model),
          .added_tokens = std::move(added),
          .special_tokens = std::move(own->around),
          .vocabulary = std::move(own->vocabulary),
          .cuts_left = own->cuts_left,
          .usable_ids = usable,
          .class_name = folder == nullptr ? "" : folder->chosen.name,
          .settings = std::move(settings)};
}

}  // namespace tandem::text
