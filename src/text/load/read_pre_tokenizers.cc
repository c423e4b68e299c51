// The pre-tokenizers of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/load/component_table.h"
#include "text/load/stage_readers.h"
#include "text/pre_tokenizers/bert_pre_tokenizer.h"
#include "text/pre_tokenizers/byte_level_pre_tokenizer.h"
#include "text/pre_tokenizers/character_split.h"
#include "text/pre_tokenizers/metaspace.h"
#include "text/pre_tokenizers/pattern_split.h"
#include "text/pre_tokenizers/pre_tokenizer_sequence.h"
#include "text/pre_tokenizers/white_space.h"

namespace tandem::text {
namespace {

template <typename Component>
std::unique_ptr<const PreTokenizer> ReadPlain(const JsonView&, bool) {
  return std::make_unique<Component>();
}

std::string ReadReplacement(const JsonView& view) {
  const std::string_view replacement = view.String();
  const char* p = replacement.data();
  if (!replacement.empty()) NextCodePoint(p);
  if (replacement.empty() || p != replacement.data() + replacement.size()) {
    view.Fail(fmt::format("expected one character, found \"{}\"", replacement));
  }
  return std::string(replacement);
}

MetaspaceOptions::Prepend ReadPrependScheme(const JsonView& view) {
  using Prepend = MetaspaceOptions::Prepend;
  if (view.String() == "always") return Prepend::kAlways;
  if (view.String() == "first") return Prepend::kFirst;
  if (view.String() == "never") return Prepend::kNever;
  view.Fail(
      fmt::format("expected \"always\", \"first\" or \"never\", found \"{}\"", view.String()));
}

// Files from before `prepend_scheme` say `add_prefix_space` alone. A file that says both must not
// contradict itself, as in the package.
std::unique_ptr<const PreTokenizer> ReadMetaspace(const JsonView& view, bool) {
  using Prepend = MetaspaceOptions::Prepend;
  MetaspaceOptions options;
  options.replacement = ReadReplacement(view.Member("replacement"));
  const std::optional<JsonView> scheme = view.Find("prepend_scheme");
  const std::optional<JsonView> prefix = view.Find("add_prefix_space");
  if (scheme) options.prepend_scheme = ReadPrependScheme(*scheme);
  if (prefix && !prefix->Boolean()) {
    if (scheme && options.prepend_scheme != Prepend::kNever) {
      prefix->Fail(fmt::format("false contradicts prepend_scheme \"{}\"", scheme->String()));
    }
    options.prepend_scheme = Prepend::kNever;
  }
  if (const std::optional<JsonView> split = view.Find("split")) options.split = split->Boolean();
  return std::make_unique<Metaspace>(std::move(options));
}

SplitBehavior ReadBehavior(const JsonView& view) {
  static constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  return ReaderOf<SplitBehavior>(view, view.String(), "behavior", kBehaviors);
}

// {"pattern": {"Regex": "\\s+"}} or {"pattern": {"String": " "}}
std::unique_ptr<const PreTokenizer> ReadSplit(const JsonView& view, bool) {
  const PatternSplitOptions options{.behavior = ReadBehavior(view.Member("behavior")),
                                    .invert = view.Member("invert").Boolean()};
  const JsonView pattern = view.Member("pattern");
  if (const std::optional<JsonView> text = pattern.Find("String")) {
    return std::make_unique<PatternSplit>(Regex::Of(text->String()), options);
  }
  const JsonView regex = pattern.Member("Regex");
  try {
    return std::make_unique<PatternSplit>(regex.String(), options);
  } catch (const PatternError& error) {
    regex.Fail(fmt::format("the pattern `{}` is not supported: {}", regex.String(), error.what()));
  }
}

std::unique_ptr<const PreTokenizer> ReadByteLevel(const JsonView& view, bool keep_bytes) {
  ByteLevelOptions options{.keep_bytes = keep_bytes};
  options.add_prefix_space = view.Member("add_prefix_space").Boolean();
  if (const auto use_regex = view.Find("use_regex")) options.use_regex = use_regex->Boolean();
  return std::make_unique<ByteLevelPreTokenizer>(options);
}

std::unique_ptr<const PreTokenizer> ReadDigits(const JsonView& view, bool) {
  const std::optional<JsonView> individual = view.Find("individual_digits");
  return std::make_unique<Digits>(individual && individual->Boolean());
}

std::unique_ptr<const PreTokenizer> ReadPunctuation(const JsonView& view, bool) {
  const std::optional<JsonView> behavior = view.Find("behavior");
  return std::make_unique<Punctuation>(behavior ? ReadBehavior(*behavior)
                                                : SplitBehavior::kIsolated);
}

std::unique_ptr<const PreTokenizer> ReadSequence(const JsonView& view, bool keep_bytes) {
  std::vector<JsonView> parts;
  view.Member("pretokenizers").ForEachElement([&](const JsonView& part) { parts.push_back(part); });
  std::vector<std::unique_ptr<const PreTokenizer>> stages;
  for (const JsonView& part : parts) {
    stages.push_back(ReadPreTokenizer(part, keep_bytes && &part == &parts.back()));
  }
  return std::make_unique<PreTokenizerSequence>(std::move(stages));
}

using PreTokenizerReader = std::unique_ptr<const PreTokenizer> (*)(const JsonView&, bool);

constexpr std::pair<std::string_view, PreTokenizerReader> kPreTokenizers[] = {
    {"BertPreTokenizer", ReadPlain<BertPreTokenizer>},
    {"ByteLevel", ReadByteLevel},
    {"Digits", ReadDigits},
    {"Metaspace", ReadMetaspace},
    {"Punctuation", ReadPunctuation},
    {"Sequence", ReadSequence},
    {"Split", ReadSplit},
    {"Whitespace", ReadPlain<Whitespace>},
    {"WhitespaceSplit", ReadPlain<WhitespaceSplit>},
};

}  // namespace

std::unique_ptr<const PreTokenizer> ReadPreTokenizer(const std::optional<JsonView>& view,
                                                     bool keep_bytes) {
  if (!view) return std::make_unique<NoPreTokenizer>();
  const std::string_view type = view->Member("type").String();
  return ReaderOf<PreTokenizerReader>(*view, type, "pre-tokenizer", kPreTokenizers)(*view,
                                                                                    keep_bytes);
}

bool EndsWithByteLevel(const std::optional<JsonView>& view) {
  if (!view) return false;
  const std::string_view type = view->Member("type").String();
  if (type != "Sequence") return type == "ByteLevel";
  std::optional<JsonView> last;
  view->Member("pretokenizers").ForEachElement([&](const JsonView& part) { last = part; });
  return EndsWithByteLevel(last);
}

}  // namespace tandem::text
