// The models of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "text/component_table.h"
#include "text/stage_readers.h"
#include "text/word_piece.h"

namespace tandem::text {
namespace {

std::unique_ptr<const SubwordModel> ReadWordPiece(const JsonView& view, Vocabulary* vocabulary) {
  const JsonView vocab = view.Member("vocab");
  for (const simdjson::dom::key_value_pair& entry : vocab.Object()) {
    const JsonView id(entry.value, view.file(), fmt::format("{}.\"{}\"", vocab.place(), entry.key));
    vocabulary->Add(entry.key, id.Integer());
  }
  if (vocabulary->count() == 0) vocab.Fail("the vocabulary is empty");
  WordPieceOptions options;
  options.unk_token = view.Member("unk_token").String();
  options.continuing_subword_prefix = view.Member("continuing_subword_prefix").String();
  const JsonView longest = view.Member("max_input_chars_per_word");
  if (longest.Integer() < 0) longest.Fail("expected a number of characters, found a negative one");
  options.max_input_chars_per_word = static_cast<size_t>(longest.Integer());
  return std::make_unique<WordPiece>(*vocabulary, options, view.file());
}

// Old files name no type; the package then goes by the fields.
std::string_view ModelType(const JsonView& view) {
  if (const std::optional<JsonView> type = view.Find("type")) return type->String();
  if (view.Find("merges")) return "BPE";
  if (view.Find("unk_id")) return "Unigram";
  return view.Find("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

using Reader = std::unique_ptr<const SubwordModel> (*)(const JsonView&, Vocabulary*);

constexpr std::pair<std::string_view, Reader> kModels[] = {
    {"WordPiece", ReadWordPiece},
};

}  // namespace

std::unique_ptr<const SubwordModel> ReadModel(const JsonView& view, Vocabulary* vocabulary) {
  return ReaderOf<Reader>(view, ModelType(view), "model", kModels)(view, vocabulary);
}

}  // namespace tandem::text
