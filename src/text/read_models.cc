// The models of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "text/component_table.h"
#include "text/stage_readers.h"
#include "text/unigram.h"
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

// [token, score]. Where that is not what `view` is, this says so.
[[noreturn]] void FailUnigramToken(const JsonView& view) {
  std::vector<JsonView> parts;
  view.ForEachElement([&](const JsonView& part) { parts.push_back(part); });
  if (parts.size() == 2) {
    parts[0].String();
    parts[1].Number();
  }
  view.Fail(fmt::format("expected a token and its score, found {} values", parts.size()));
}

std::vector<UnigramToken> ReadUnigramTokens(const JsonView& vocab) {
  std::vector<UnigramToken> tokens;
  for (const simdjson::dom::element entry : vocab.Array()) {
    UnigramToken token;
    simdjson::dom::array pair;
    if (entry.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
        pair.at(0).get(token.token) != simdjson::SUCCESS ||
        pair.at(1).get(token.score) != simdjson::SUCCESS) {
      FailUnigramToken({entry, vocab.file(), fmt::format("{}[{}]", vocab.place(), tokens.size())});
    }
    tokens.push_back(token);
  }
  if (tokens.empty()) vocab.Fail("the vocabulary is empty");
  return tokens;
}

std::unique_ptr<const SubwordModel> ReadUnigram(const JsonView& view, Vocabulary* vocabulary) {
  const std::vector<UnigramToken> tokens = ReadUnigramTokens(view.Member("vocab"));
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocabulary->Add(tokens[id].token, static_cast<int64_t>(id));
  }
  UnigramOptions options;
  if (const std::optional<JsonView> unk_id = view.Find("unk_id")) {
    const int64_t id = unk_id->Integer();
    if (id < 0 || static_cast<size_t>(id) >= tokens.size()) {
      unk_id->Fail(fmt::format("{} is not in the vocabulary; expected 0 to {} or null", id,
                               tokens.size() - 1));
    }
    options.unk_id = static_cast<int32_t>(id);
  }
  if (const std::optional<JsonView> fallback = view.Find("byte_fallback")) {
    options.byte_fallback = fallback->Boolean();
  }
  return std::make_unique<Unigram>(tokens, options, view.file());
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
    {"Unigram", ReadUnigram},
    {"WordPiece", ReadWordPiece},
};

}  // namespace

std::unique_ptr<const SubwordModel> ReadModel(const JsonView& view, Vocabulary* vocabulary) {
  return ReaderOf<Reader>(view, ModelType(view), "model", kModels)(view, vocabulary);
}

}  // namespace tandem::text
