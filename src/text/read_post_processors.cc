// The post-processors of tokenizer.json.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "text/component_table.h"
#include "text/stage_readers.h"

namespace tandem::text {
namespace {

int32_t ReadId(const JsonView& view) {
  const int64_t id = view.Integer();
  if (id < 0 || id > Vocabulary::kMaxId) {
    view.Fail(fmt::format("id {} is out of range; expected 0 to {}", id, Vocabulary::kMaxId));
  }
  return static_cast<int32_t>(id);
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

// {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}; RobertaProcessing has
// fields about offsets besides.
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

// ByteLevel changes offsets alone.
SpecialTokens ReadByteLevel(const JsonView&) { return {}; }

// Each puts its tokens around what those before it made.
SpecialTokens ReadSequence(const JsonView& view) {
  SpecialTokens all;
  view.Member("processors").ForEachElement([&](const JsonView& processor) {
    SpecialTokens tokens = ReadPostProcessor(processor);
    tokens.before.insert(tokens.before.end(), all.before.begin(), all.before.end());
    all.after.insert(all.after.end(), tokens.after.begin(), tokens.after.end());
    all.before = std::move(tokens.before);
  });
  return all;
}

using Reader = SpecialTokens (*)(const JsonView&);

constexpr std::pair<std::string_view, Reader> kPostProcessors[] = {
    {"TemplateProcessing", ReadTemplate}, {"BertProcessing", ReadBertProcessing},
    {"ByteLevel", ReadByteLevel},         {"RobertaProcessing", ReadBertProcessing},
    {"Sequence", ReadSequence},
};

}  // namespace

SpecialTokens ReadPostProcessor(const std::optional<JsonView>& view) {
  if (!view) return {};
  const std::string_view type = view->Member("type").String();
  return ReaderOf<Reader>(*view, type, "post-processor", kPostProcessors)(*view);
}

}  // namespace tandem::text
