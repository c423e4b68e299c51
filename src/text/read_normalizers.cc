// The normalizers of tokenizer.json.
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bert_normalizer.h"
#include "text/component_table.h"
#include "text/stage_readers.h"

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

using Reader = std::unique_ptr<const Normalizer> (*)(const JsonView&, const TokenizerOptions&);

constexpr std::pair<std::string_view, Reader> kNormalizers[] = {
    {"BertNormalizer", ReadBertNormalizer},
};

constexpr BertNormalizerOptions kLowerCaseAlone = {
    .clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lowercase = true};

}  // namespace

std::unique_ptr<const Normalizer> ReadNormalizer(const std::optional<JsonView>& view,
                                                 const TokenizerOptions& options) {
  if (!view && options.lower_case) return std::make_unique<BertNormalizer>(kLowerCaseAlone);
  if (!view) return std::make_unique<NoNormalizer>();
  const std::string_view type = view->Member("type").String();
  return ReaderOf<Reader>(*view, type, "normalizer", kNormalizers)(*view, options);
}

}  // namespace tandem::text
