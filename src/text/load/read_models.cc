// The models of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/load/component_table.h"
#include "text/load/stage_readers.h"
#include "text/models/bpe.h"
#include "text/models/unigram.h"
#include "text/models/word_piece.h"

namespace tandem::text {
namespace {

void ReadVocabulary(const JsonView& vocab, Vocabulary* vocabulary) {
  for (const auto& [token, value] : vocab.Object()) {
    std::optional<int64_t> id = value.Integer();
    if (!id) {  // says what it is instead
      id = JsonView(value, vocab.file(), fmt::format("{}.\"{}\"", vocab.place(), token)).Integer();
    }
    vocabulary->Add(token, *id);
  }
  if (vocabulary->count() == 0) vocab.Fail("the vocabulary is empty");
}

std::unique_ptr<const SubwordModel> ReadWordPiece(const ModelViews& views, bool,
                                                  Vocabulary* vocabulary) {
  ReadVocabulary(views.model.Member("vocab"), vocabulary);
  WordPieceOptions options;
  options.unk_token = views.options.Member("unk_token").String();
  options.continuing_subword_prefix = views.options.Member("continuing_subword_prefix").String();
  const JsonView longest = views.options.Member("max_input_chars_per_word");
  if (longest.Integer() < 0) longest.Fail("expected a number of characters, found a negative one");
  options.max_input_chars_per_word = static_cast<size_t>(longest.Integer());
  return std::make_unique<WordPiece>(*vocabulary, options, views.model.file());
}

// The two elements of an array of two; of any other value none.
std::pair<std::optional<JsonElement>, std::optional<JsonElement>> PairOf(JsonElement element) {
  const JsonElement::Elements elements = element.elements();
  if (elements.empty()) return {};
  auto at = elements.begin();
  const JsonElement first = *at;
  if (++at == elements.end()) return {};
  const JsonElement second = *at;
  if (++at != elements.end()) return {};
  return {first, second};
}

// Says that `view` is not [token, score].
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
  for (const JsonElement entry : vocab.Array()) {
    const auto [first, second] = PairOf(entry);
    const auto token = first ? first->String() : std::nullopt;
    const auto score = second ? second->Number() : std::nullopt;
    if (!token || !score) {
      FailUnigramToken({entry, vocab.file(), fmt::format("{}[{}]", vocab.place(), tokens.size())});
    }
    tokens.push_back({.token = *token, .score = *score});
  }
  if (tokens.empty()) vocab.Fail("the vocabulary is empty");
  return tokens;
}

std::unique_ptr<const SubwordModel> ReadUnigram(const ModelViews& views, bool,
                                                Vocabulary* vocabulary) {
  const std::vector<UnigramToken> tokens = ReadUnigramTokens(views.model.Member("vocab"));
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocabulary->Add(tokens[id].token, static_cast<int64_t>(id));
  }
  UnigramOptions options;
  if (const std::optional<JsonView> unk_id = views.options.Find("unk_id")) {
    const int64_t id = unk_id->Integer();
    if (id < 0 || static_cast<size_t>(id) >= tokens.size()) {
      unk_id->Fail(fmt::format("{} is not in the vocabulary; expected 0 to {} or null", id,
                               tokens.size() - 1));
    }
    options.unk_id = static_cast<int32_t>(id);
  }
  if (const std::optional<JsonView> fallback = views.options.Find("byte_fallback")) {
    options.byte_fallback = fallback->Boolean();
  }
  return std::make_unique<Unigram>(tokens, options, views.model.file());
}

// "a b" or ["a", "b"].
MergeNames ReadMerge(JsonElement merge, const JsonView& merges, size_t rank) {
  if (const std::optional<std::string_view> text = merge.String()) {
    const size_t space = text->find(' ');
    if (space != std::string_view::npos && text->find(' ', space + 1) == std::string_view::npos) {
      return {text->substr(0, space), text->substr(space + 1)};
    }
  }
  const auto [first, second] = PairOf(merge);
  const auto left = first ? first->String() : std::nullopt;
  const auto right = second ? second->String() : std::nullopt;
  if (left && right) return {*left, *right};
  merges.Fail(fmt::format("merge {} has not the form \"a b\" or [\"a\", \"b\"]", rank));
}

std::vector<MergeNames> ReadMerges(const JsonView& view) {
  std::vector<MergeNames> merges;
  for (const JsonElement merge : view.Array()) {
    merges.push_back(ReadMerge(merge, view, merges.size()));
  }
  return merges;
}

std::unique_ptr<const SubwordModel> ReadBpe(const ModelViews& views, bool words_are_bytes,
                                            Vocabulary* vocabulary) {
  if (const auto dropout = views.options.Find("dropout"); dropout && dropout->Number() != 0) {
    dropout->Fail(fmt::format("{} is not supported; ids would be random. Expected null or 0",
                              dropout->Number()));
  }
  ReadVocabulary(views.model.Member("vocab"), vocabulary);
  const auto text = [&](std::string_view name) {
    const std::optional<JsonView> member = views.options.Find(name);
    return std::string(member ? member->String() : "");
  };
  const auto flag = [&](std::string_view name) {
    const std::optional<JsonView> member = views.options.Find(name);
    return member && member->Boolean();
  };
  const BpeOptions options{.unk_token = text("unk_token"),
                           .continuing_subword_prefix = text("continuing_subword_prefix"),
                           .end_of_word_suffix = text("end_of_word_suffix"),
                           .fuse_unk = flag("fuse_unk"),
                           .byte_fallback = flag("byte_fallback"),
                           .ignore_merges = flag("ignore_merges"),
                           .words_are_bytes = words_are_bytes};
  return std::make_unique<Bpe>(*vocabulary, ReadMerges(views.model.Member("merges")), options,
                               std::string(views.model.file()));
}

using ModelReader = std::unique_ptr<const SubwordModel> (*)(const ModelViews&, bool, Vocabulary*);

constexpr std::pair<std::string_view, ModelReader> kModels[] = {
    {"BPE", ReadBpe},
    {"Unigram", ReadUnigram},
    {"WordPiece", ReadWordPiece},
};

}  // namespace

// Old files name no type; the package then goes by the fields.
std::string_view ModelType(const JsonView& view) {
  if (const std::optional<JsonView> type = view.Find("type")) return type->String();
  if (view.Find("merges")) return "BPE";
  if (view.Find("unk_id")) return "Unigram";
  return view.Find("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

std::unique_ptr<const SubwordModel> ReadModel(const ModelViews& views, bool words_are_bytes,
                                              Vocabulary* vocabulary) {
  const ModelReader reader =
      ReaderOf<ModelReader>(views.model, ModelType(views.model), "model", kModels);
  return reader(views, words_are_bytes, vocabulary);
}

}  // namespace tandem::text
