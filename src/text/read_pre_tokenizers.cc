// The pre-tokenizers of tokenizer.json.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bert_pre_tokenizer.h"
#include "text/component_table.h"
#include "text/metaspace.h"
#include "text/pre_tokenizer_sequence.h"
#include "text/stage_readers.h"
#include "text/utf8.h"
#include "text/white_space.h"

namespace tandem::text {
namespace {

template <typename Component>
std::unique_ptr<const PreTokenizer> ReadPlain(const JsonView&) {
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
std::unique_ptr<const PreTokenizer> ReadMetaspace(const JsonView& view) {
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

std::unique_ptr<const PreTokenizer> ReadSequence(const JsonView& view) {
  std::vector<std::unique_ptr<const PreTokenizer>> stages;
  view.Member("pretokenizers").ForEachElement([&](const JsonView& stage) {
    stages.push_back(ReadPreTokenizer(stage));
  });
  return std::make_unique<PreTokenizerSequence>(std::move(stages));
}

using Reader = std::unique_ptr<const PreTokenizer> (*)(const JsonView&);

constexpr std::pair<std::string_view, Reader> kPreTokenizers[] = {
    {"BertPreTokenizer", ReadPlain<BertPreTokenizer>},
    {"Metaspace", ReadMetaspace},
    {"Sequence", ReadSequence},
    {"Whitespace", ReadPlain<Whitespace>},
    {"WhitespaceSplit", ReadPlain<WhitespaceSplit>},
};

}  // namespace

std::unique_ptr<const PreTokenizer> ReadPreTokenizer(const std::optional<JsonView>& view) {
  if (!view) return std::make_unique<NoPreTokenizer>();
  const std::string_view type = view->Member("type").String();
  return ReaderOf<Reader>(*view, type, "pre-tokenizer", kPreTokenizers)(*view);
}

}  // namespace tandem::text
