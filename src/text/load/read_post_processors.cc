// The post-processors of tokenizer.json.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "text/load/component_table.h"
#include "text/load/stage_readers.h"

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

// A piece's "type_id", which may be missing in old files.
int32_t TypeOf(const JsonView& piece) {
  const std::optional<JsonView> type = piece.Find("type_id");
  if (!type) return 0;
  return ReadId(*type);
}

// The template of "pair"; empty where it is missing or does not have both texts once.
PairTemplate ReadPairTemplate(const std::optional<JsonView>& pair, const JsonView& table) {
  PairTemplate form;
  int firsts = 0, seconds = 0;
  if (!pair) return form;
  pair->ForEachElement([&](const JsonView& piece) {
    if (const std::optional<JsonView> special = piece.Find("SpecialToken")) {
      std::vector<int32_t> ids;
      ReadSpecialToken(*special, table, &ids);
      const int32_t type = TypeOf(*special);
      for (const int32_t id : ids) {
        form.pieces.push_back({PairPiece::Kind::kSpecial, id, type});
      }
      return;
    }
    const JsonView sequence = piece.Member("Sequence");
    const bool is_first = sequence.Member("id").String() == "A";
    ++(is_first ? firsts : seconds);
    form.pieces.push_back(
        {is_first ? PairPiece::Kind::kFirst : PairPiece::Kind::kSecond, 0, TypeOf(sequence)});
  });
  return firsts == 1 && seconds == 1 ? form : PairTemplate();
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
  tokens.pair = ReadPairTemplate(view.Find("pair"), table);
  return tokens;
}

// ["[SEP]", 102], under `name`.
int32_t ReadTokenAndId(const JsonView& view, std::string_view name) {
  const JsonView pair = view.Member(name);
  std::vector<JsonView> parts;
  pair.ForEachElement([&](const JsonView& part) { parts.push_back(part); });
  if (parts.size() != 2) pair.Fail("expected a token and its id");
  return ReadId(parts[1]);
}

// {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
SpecialTokens ReadBertProcessing(const JsonView& view) {
  const int32_t cls = ReadTokenAndId(view, "cls"), sep = ReadTokenAndId(view, "sep");
  return {.before = {cls}, .after = {sep}, .pair = BertPair(cls, sep)};
}

// Reads other pairs; its other fields are about offsets.
SpecialTokens ReadRobertaProcessing(const JsonView& view) {
  SpecialTokens tokens = ReadBertProcessing(view);
  tokens.pair = RobertaPair(tokens.before.front(), tokens.after.front());
  return tokens;
}

// ByteLevel changes offsets alone.
SpecialTokens ReadByteLevel(const JsonView&) { return {}; }

// Each puts its tokens around what those before it made. Pairs are joined by the one among them
// that joins any; where several do, texts cannot be encoded as pairs.
SpecialTokens ReadSequence(const JsonView& view) {
  SpecialTokens all;
  int joining = 0;
  view.Member("processors").ForEachElement([&](const JsonView& processor) {
    SpecialTokens tokens = ReadPostProcessor(processor);
    tokens.before.insert(tokens.before.end(), all.before.begin(), all.before.end());
    all.after.insert(all.after.end(), tokens.after.begin(), tokens.after.end());
    all.before = std::move(tokens.before);
    if (tokens.pair.empty()) return;
    all.pair = ++joining == 1 ? std::move(tokens.pair) : PairTemplate();
  });
  return all;
}

using PostProcessorReader = SpecialTokens (*)(const JsonView&);

constexpr std::pair<std::string_view, PostProcessorReader> kPostProcessors[] = {
    {"TemplateProcessing", ReadTemplate}, {"BertProcessing", ReadBertProcessing},
    {"ByteLevel", ReadByteLevel},         {"RobertaProcessing", ReadRobertaProcessing},
    {"Sequence", ReadSequence},
};

}  // namespace

SpecialTokens ReadPostProcessor(const std::optional<JsonView>& view) {
  if (!view) return {};
  const std::string_view type = view->Member("type").String();
  return ReaderOf<PostProcessorReader>(*view, type, "post-processor", kPostProcessors)(*view);
}

}  // namespace tandem::text
