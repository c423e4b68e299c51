#include "text/stage_readers.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "text/bert_normalizer.h"
#include "text/bert_pre_tokenizer.h"
#include "text/word_piece.h"

namespace tandem::text {
namespace {

template <typename Reader>
using Table = std::span<const std::pair<std::string_view, Reader>>;

template <typename Reader>
Reader ReaderOf(const JsonView& view, std::string_view type, std::string_view kind,
                Table<Reader> table) {
  std::string supported;
  for (const auto& [name, reader] : table) {
    if (name == type) return reader;
    supported += supported.empty() ? "" : ", ";
    supported += name;
  }
  view.Fail(fmt::format("{} \"{}\" is not supported; supported: {}", kind, type, supported));
}

int32_t ReadId(const JsonView& view) {
  const int64_t id = view.Integer();
  if (id < 0 || id > Vocabulary::kMaxId) {
    view.Fail(fmt::format("id {} is out of range; expected 0 to {}", id, Vocabulary::kMaxId));
  }
  return static_cast<int32_t>(id);
}

std::unique_ptr<const Normalizer> ReadBertNormalizer(const JsonView& view,
                                                     const TokenizerOptions& options) {
  BertNormalizerOptions stages;
  stages.clean_text = view.Member("clean_text").Boolean();
  stages.handle_chinese_chars = view.Member("handle_chinese_chars").Boolean();
  stages.lowercase = view.Member("lowercase").Boolean();
  const std::optional<JsonView> strip_accents = view.Find("strip_accents");
  stages.strip_accents = strip_accents ? strip_accents->Boolean() : stages.lowercase;
  // This follows strip_accents, whose default is the file's own `lowercase`: asking for lower case
  // does not strip accents that the file keeps.
  stages.lowercase |= options.lower_case;
  return std::make_unique<BertNormalizer>(stages);
}

std::unique_ptr<const PreTokenizer> ReadBertPreTokenizer(const JsonView&) {
  return std::make_unique<BertPreTokenizer>();
}

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

// {"SpecialToken": {"id": "[CLS]"}}: the ids that the template's table gives it.
void ReadSpecialToken(const JsonView& view, const JsonView& table, std::vector<int32_t>* ids) {
  const std::string_view name = view.Member("id").String();
  const std::optional<JsonView> entry = table.Find(name);
  if (!entry) view.Fail(fmt::format("\"{}\" is missing in {}", name, table.place()));
  entry->Member("ids").ForEachElement([&](const JsonView& id) { ids->push_back(ReadId(id)); });
}

SpecialTokens ReadTemplate(const JsonView& view) {
  const JsonView single = view.Member("single");
  const JsonView table = view.Member("special_tokens");
  SpecialTokens tokens;
  int sequences = 0;
  single.ForEachElement([&](const JsonView& piece) {
    if (const std::optional<JsonView> special = piece.Find("SpecialToken")) {
      ReadSpecialToken(*special, table, sequences == 0 ? &tokens.before : &tokens.after);
      return;
    }
    const std::string_view sequence = piece.Member("Sequence").Member("id").String();
    if (sequence != "A") piece.Fail(fmt::format("expected sequence A, found {}", sequence));
    ++sequences;
  });
  if (sequences != 1) {
    single.Fail(fmt::format("expected the text (sequence A) once, found it {} times", sequences));
  }
  return tokens;
}

// {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
SpecialTokens ReadBertProcessing(const JsonView& view) {
  const auto id_of = [&](std::string_view name) {
    const JsonView pair = view.Member(name);
    std::vector<JsonView> parts;
    pair.ForEachElement([&](const JsonView& part) { parts.push_back(part); });
    if (parts.size() != 2) pair.Fail("expected a token and its id");
    return ReadId(parts[1]);
  };
  return {.before = {id_of("cls")}, .after = {id_of("sep")}};
}

using NormalizerReader = std::unique_ptr<const Normalizer> (*)(const JsonView&,
                                                               const TokenizerOptions&);
using PreTokenizerReader = std::unique_ptr<const PreTokenizer> (*)(const JsonView&);
using ModelReader = std::unique_ptr<const SubwordModel> (*)(const JsonView&, Vocabulary*);
using PostProcessorReader = SpecialTokens (*)(const JsonView&);

constexpr BertNormalizerOptions kLowerCaseAlone = {
    .clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lowercase = true};

constexpr std::pair<std::string_view, NormalizerReader> kNormalizers[] = {
    {"BertNormalizer", ReadBertNormalizer},
};
constexpr std::pair<std::string_view, PreTokenizerReader> kPreTokenizers[] = {
    {"BertPreTokenizer", ReadBertPreTokenizer},
};
constexpr std::pair<std::string_view, ModelReader> kModels[] = {
    {"WordPiece", ReadWordPiece},
};
constexpr std::pair<std::string_view, PostProcessorReader> kPostProcessors[] = {
    {"TemplateProcessing", ReadTemplate},
    {"BertProcessing", ReadBertProcessing},
};

}  // namespace

std::unique_ptr<const Normalizer> ReadNormalizer(const std::optional<JsonView>& view,
                                                 const TokenizerOptions& options) {
  if (!view && options.lower_case) return std::make_unique<BertNormalizer>(kLowerCaseAlone);
  if (!view) return std::make_unique<NoNormalizer>();
  const std::string_view type = view->Member("type").String();
  return ReaderOf<NormalizerReader>(*view, type, "normalizer", kNormalizers)(*view, options);
}

std::unique_ptr<const PreTokenizer> ReadPreTokenizer(const std::optional<JsonView>& view) {
  if (!view) return std::make_unique<NoPreTokenizer>();
  const std::string_view type = view->Member("type").String();
  return ReaderOf<PreTokenizerReader>(*view, type, "pre-tokenizer", kPreTokenizers)(*view);
}

std::unique_ptr<const SubwordModel> ReadModel(const JsonView& view, Vocabulary* vocabulary) {
  return ReaderOf<ModelReader>(view, ModelType(view), "model", kModels)(view, vocabulary);
}

SpecialTokens ReadPostProcessor(const std::optional<JsonView>& view) {
  if (!view) return {};
  const std::string_view type = view->Member("type").String();
  return ReaderOf<PostProcessorReader>(*view, type, "post-processor", kPostProcessors)(*view);
}

}  // namespace tandem::text
