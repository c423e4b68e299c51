#include "text/load/vocab_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "base/json/json_document.h"
#include "base/utf8.h"
#include "text/load/finish_stages.h"
#include "text/load/stage_readers.h"
#include "text/models/word_piece.h"
#include "text/pre_tokenizers/bert_pre_tokenizer.h"

namespace tandem::text {
namespace {

void ReadLines(std::string_view rest, const std::string& file, Vocabulary* vocabulary) {
  const std::string problem = NoDataProblem(rest.substr(0, kFileKindBytes), file);
  if (!problem.empty()) throw ModelError(file, "", problem);
  for (int64_t id = 0; !rest.empty(); ++id) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view token = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (!IsUtf8(token)) {
      throw ModelError(file, "", fmt::format("line {} is not valid UTF-8", id + 1));
    }
    vocabulary->Add(token, id);
  }
  if (vocabulary->count() == 0) throw ModelError(file, "", "the vocabulary is empty");
}

// Other classes read a vocab.txt in other ways: BertJapaneseTokenizer finds words by a dictionary.
void ChooseBert(FolderClass* folder) {
  using Kind = TokenizerClass;
  ChosenClass& chosen = folder->chosen;
  if (chosen.kind == Kind::kFile) chosen = {Kind::kBert, "BertTokenizer"};
  if (chosen.kind == Kind::kBert || chosen.kind == Kind::kDistilBert ||
      chosen.kind == Kind::kMpNet) {
    return;
  }
  throw ModelError(
      folder->arguments.FileOf("tokenizer_class"), "",
      fmt::format("tokenizer_class: {} is not supported without a tokenizer.json (it is "
                  "the class that is named, or that of the model_type); supported: "
                  "BertTokenizer, DistilBertTokenizer, MPNetTokenizer",
                  chosen.name));
}

}  // namespace

TokenizerStages ReadVocabFile(std::string_view text, const std::string& file,
                              const TokenizerOptions& options, FolderClass* folder) {
  ChooseBert(folder);
  folder->arguments.TakeTokensOfFile({});
  const ClassParts parts =
      PartsOf(folder->chosen, folder->arguments,
              {.model_type = "WordPiece", .character_map = "", .place_of = nullptr});
  OwnStages own(file);
  ReadLines(text, file, &own.vocabulary);
  const JsonDocument normalizer(parts.normalizer);
  own.normalizer = ReadNormalizer(JsonView(normalizer.root(), file, ""), options);
  own.pre_tokenizer = std::make_unique<const BertPreTokenizer>();
  WordPieceOptions word_piece;
  word_piece.unk_token = parts.unk_token;
  own.model = std::make_unique<const WordPiece>(own.vocabulary, word_piece, file);
  NeedInModel(parts.frame, *own.model, file);
  AddedVocabulary vocabulary(*own.model, &own.vocabulary);
  return FinishStages(&own, &vocabulary, folder, parts, options, file);
}

}  // namespace tandem::text
