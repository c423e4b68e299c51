#include "text/vocab_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "text/bert_normalizer.h"
#include "text/bert_pre_tokenizer.h"
#include "text/settings_file.h"
#include "text/utf8.h"
#include "text/word_piece.h"

namespace tandem::text {
namespace {

Vocabulary ReadLines(const std::string& file) {
  const std::string bytes = ReadFile(file);
  const std::string problem =
      NoDataProblem(std::string_view(bytes).substr(0, kFileKindBytes), file);
  if (!problem.empty()) throw ModelError(file, "", problem);
  Vocabulary vocabulary(file);
  std::string_view rest = bytes;
  for (int64_t id = 0; !rest.empty(); ++id) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view token = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (!IsValidUtf8(token)) {
      throw ModelError(file, "", fmt::format("line {} is not valid UTF-8", id + 1));
    }
    vocabulary.Add(token, id);
  }
  if (vocabulary.count() == 0) throw ModelError(file, "", "the vocabulary is empty");
  return vocabulary;
}

class SpecialNames {
 public:
  explicit SpecialNames(const std::filesystem::path& folder, const SettingsFile& config)
      : config_(config), map_(folder / "special_tokens_map.json") {}

  std::string Of(std::string_view setting, std::string_view otherwise) const {
    if (const auto name = config_.Token(setting)) return *name;
    return map_.Token(setting).value_or(std::string(otherwise));
  }

 private:
  const SettingsFile& config_;
  SettingsFile map_;
};

BertNormalizerOptions NormalizerOptions(const SettingsFile& config,
                                        const TokenizerOptions& options) {
  BertNormalizerOptions stages;
  stages.lowercase = config.Boolean("do_lower_case").value_or(true);
  stages.strip_accents = config.Boolean("strip_accents").value_or(stages.lowercase);
  stages.handle_chinese_chars = config.Boolean("tokenize_chinese_chars").value_or(true);
  // This follows strip_accents, whose default is the file's own lower-casing: asking for lower case
  // does not strip accents that the file keeps.
  stages.lowercase |= options.lower_case;
  return stages;
}

// transformers' tokenizers that read vocab.txt by this file's rules. "Fast" may follow a name.
constexpr std::string_view kBertClasses[] = {
    "BertTokenizer",       "ConvBertTokenizer",   "DPRContextEncoderTokenizer",
    "DistilBertTokenizer", "ElectraTokenizer",    "DPRQuestionEncoderTokenizer",
    "MPNetTokenizer",      "MobileBertTokenizer", "PreTrainedTokenizer",
    "SqueezeBertTokenizer"};

// Other classes read a vocab.txt in other ways: BertJapaneseTokenizer finds words by a dictionary.
void CheckClass(const SettingsFile& config, const std::filesystem::path& folder) {
  const std::optional<std::string> named = config.Token("tokenizer_class");
  if (!named) return;
  std::string_view name = *named;
  if (name.ends_with("Fast")) name.remove_suffix(std::string_view("Fast").size());
  if (std::find(std::begin(kBertClasses), std::end(kBertClasses), name) != std::end(kBertClasses)) {
    return;
  }
  throw ModelError((folder / "tokenizer_config.json").native(), "",
                   fmt::format("tokenizer_class: {} is not supported without a tokenizer.json; "
                               "supported: {}",
                               *named, fmt::join(kBertClasses, ", ")));
}

int32_t RequiredId(const SubwordModel& model, const std::string& token, const std::string& file) {
  const int32_t id = model.Find(token);
  if (id < 0) {
    throw ModelError(file, "",
                     fmt::format("the special token \"{}\" is not in the vocabulary", token));
  }
  return id;
}

}  // namespace

TokenizerStages ReadVocabFile(const std::filesystem::path& folder,
                              const TokenizerOptions& options) {
  const std::string file = (folder / "vocab.txt").native();
  const SettingsFile config(folder / "tokenizer_config.json");
  if (!config.Boolean("do_basic_tokenize").value_or(true)) {
    throw ModelError((folder / "tokenizer_config.json").native(), "",
                     "do_basic_tokenize: false is not supported; supported: true");
  }
  CheckClass(config, folder);
  const SpecialNames names(folder, config);
  Vocabulary vocabulary = ReadLines(file);
  WordPieceOptions word_piece;
  word_piece.unk_token = names.Of("unk_token", "[UNK]");
  auto model = std::make_unique<const WordPiece>(vocabulary, word_piece, file);
  const std::string cls = names.Of("cls_token", "[CLS]");
  const std::string sep = names.Of("sep_token", "[SEP]");
  const int32_t cls_id = RequiredId(*model, cls, file), sep_id = RequiredId(*model, sep, file);
  SpecialTokens special{.before = {cls_id}, .after = {sep_id}, .pair = BertPair(cls_id, sep_id)};
  std::vector<AddedToken> added;
  for (const std::string& token : {word_piece.unk_token, cls, sep, names.Of("pad_token", "[PAD]"),
                                   names.Of("mask_token", "[MASK]")}) {
    if (const int32_t id = model->Find(token); id >= 0) {
      added.push_back({.content = token, .id = id, .special = true});
    }
  }
  auto normalizer = std::make_unique<const BertNormalizer>(NormalizerOptions(config, options));
  AddedTokens matchers = AddedTokens::Make(added, *normalizer, file);
  return {std::move(normalizer), std::make_unique<const BertPreTokenizer>(),
          std::move(model),      std::move(matchers),
          std::move(special),    std::move(vocabulary)};
}

}  // namespace tandem::text
