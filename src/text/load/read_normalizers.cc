// The normalizers of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "text/load/component_table.h"
#include "text/load/stage_readers.h"
#include "text/normalizers/bert_normalizer.h"
#include "text/normalizers/byte_level_normalizer.h"
#include "text/normalizers/normal_form.h"
#include "text/normalizers/normalizer_sequence.h"
#include "text/normalizers/precompiled.h"
#include "text/normalizers/replace.h"
#include "text/normalizers/strip.h"
#include "text/regex/regex_pattern.h"

namespace tandem::text {
namespace {

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

using Result = std::unique_ptr<const Normalizer>;

constexpr BertNormalizerOptions kLowerCaseAlone = {
    .clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lowercase = true};

Result ReadLowercase(const JsonView&, const TokenizerOptions&) {
  return std::make_unique<BertNormalizer>(kLowerCaseAlone);
}

template <typename Component>
Result ReadPlain(const JsonView&, const TokenizerOptions&) {
  return std::make_unique<Component>();
}

template <bool kCompatibleForm, bool kComposed>
Result ReadForm(const JsonView&, const TokenizerOptions&) {
  return std::make_unique<NormalForm>(
      NormalFormOptions{.compatible = kCompatibleForm, .compose = kComposed});
}

Result ReadPrecompiled(const JsonView& view, const TokenizerOptions&) {
  const JsonView encoded = view.Member("precompiled_charsmap");
  const std::optional<std::string> map = DecodeBase64(encoded.String());
  if (!map) encoded.Fail("expected base64 with padding, found something else");
  try {
    return std::make_unique<Precompiled>(*map);
  } catch (const std::invalid_argument& error) {
    encoded.Fail(fmt::format("the map is broken: {}", error.what()));
  }
}

Result ReadPrepend(const JsonView& view, const TokenizerOptions&) {
  return std::make_unique<Prepend>(std::string(view.Member("prepend").String()));
}

// {"String": "..."} or {"Regex": "..."}
std::unique_ptr<const TextPattern> ReadPattern(const JsonView& view) {
  if (const std::optional<JsonView> regex = view.Find("Regex")) {
    try {
      return MakeRegexPattern(regex->String());
    } catch (const PatternError& error) {
      regex->Fail(
          fmt::format("the pattern `{}` is not supported: {}", regex->String(), error.what()));
    }
  }
  const JsonView string = view.Member("String");
  if (string.String().empty()) string.Fail("the pattern is empty");
  return MakeStringPattern(string.String());
}

Result ReadReplace(const JsonView& view, const TokenizerOptions&) {
  return std::make_unique<Replace>(ReadPattern(view.Member("pattern")),
                                   std::string(view.Member("content").String()));
}

Result ReadSequence(const JsonView& view, const TokenizerOptions&) {
  std::vector<Result> stages;
  view.Member("normalizers").ForEachElement([&](const JsonView& stage) {
    stages.push_back(ReadNormalizer(stage, {}));
  });
  return std::make_unique<NormalizerSequence>(std::move(stages));
}

Result ReadStrip(const JsonView& view, const TokenizerOptions&) {
  return std::make_unique<Strip>(StripOptions{.strip_left = view.Member("strip_left").Boolean(),
                                              .strip_right = view.Member("strip_right").Boolean()});
}

using NormalizerReader = Result (*)(const JsonView&, const TokenizerOptions&);

constexpr std::string_view kBertNormalizer = "BertNormalizer";

constexpr std::pair<std::string_view, NormalizerReader> kNormalizers[] = {
    {kBertNormalizer, ReadBertNormalizer},
    {"ByteLevel", ReadPlain<ByteLevelNormalizer>},
    {"Lowercase", ReadLowercase},
    {"NFC", ReadForm<false, true>},
    {"NFD", ReadForm<false, false>},
    {"NFKC", ReadForm<true, true>},
    {"NFKD", ReadForm<true, false>},
    {"Nmt", ReadPlain<Nmt>},
    {"Precompiled", ReadPrecompiled},
    {"Prepend", ReadPrepend},
    {"Replace", ReadReplace},
    {"Sequence", ReadSequence},
    {"Strip", ReadStrip},
    {"StripAccents", ReadPlain<StripAccents>},
};

// Lower-casing in front of any other normalizer than BERT's, which does it itself.
Result LowerCaseBefore(Result normalizer) {
  std::vector<Result> stages;
  stages.push_back(std::make_unique<BertNormalizer>(kLowerCaseAlone));
  stages.push_back(std::move(normalizer));
  return std::make_unique<NormalizerSequence>(std::move(stages));
}

// Says whether the component or one right inside of it is Lowercase, where sentence-transformers
// adds none.
bool LowersCase(const JsonView& view) {
  const std::string_view type = view.Member("type").String();
  bool lowers = type == "Lowercase";
  if (type == "Sequence") {
    view.Member("normalizers").ForEachElement([&](const JsonView& stage) {
      lowers = lowers || stage.Member("type").String() == "Lowercase";
    });
  }
  return lowers;
}

}  // namespace

std::unique_ptr<const Normalizer> ReadNormalizer(const std::optional<JsonView>& view,
                                                 const TokenizerOptions& options) {
  if (!view && options.lower_case) return std::make_unique<BertNormalizer>(kLowerCaseAlone);
  if (!view) return std::make_unique<NoNormalizer>();
  const std::string_view type = view->Member("type").String();
  Result normalizer =
      ReaderOf<NormalizerReader>(*view, type, "normalizer", kNormalizers)(*view, options);
  if (!options.lower_case || type == kBertNormalizer || LowersCase(*view)) return normalizer;
  return LowerCaseBefore(std::move(normalizer));
}

}  // namespace tandem::text
