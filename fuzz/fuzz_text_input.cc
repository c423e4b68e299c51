// Texts with fields in JSON lines, TSV and plain lines (data/input/text_lines.h).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/input/text_lines.h"

namespace {

using namespace tandem::data;

struct Choice {
  TextFormat format = TextFormat::kJsonLines;
  TextKeys keys;
  std::vector<MetadataField> fields;
};

Choice ChoiceOf(uint8_t byte) {
  constexpr TextFormat kFormats[] = {TextFormat::kJsonLines, TextFormat::kTsv, TextFormat::kLines};
  Choice choice{.format = kFormats[byte % 3],
                .keys = {.role = byte & 8 ? TextRole::kQuery : TextRole::kDocument,
                         .id = byte & 16 ? "" : "_id",
                         .chosen_by_flags = true},
                .fields = {}};
  if (choice.format != TextFormat::kLines && (byte & 32)) {
    choice.fields = {{"year", MetadataType::kNumber}, {"lang", MetadataType::kString}};
  }
  return choice;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const Choice choice = ChoiceOf(bytes[0]);
  Warnings warnings;
  size_t read = 0, skipped = 0;
  try {
    LineReader reader("f", file, warnings);
    const auto lines = MakeTextLines(choice.format, choice.keys, choice.fields);
    for (InputText text; lines->Next(reader, "1", &text); ++read) {
      if (text.id.empty() || text.metadata.size() != choice.fields.size()) std::abort();
      if (text.title_bytes > text.text.size()) std::abort();
    }
    LineReader again("f", file, warnings);
    const auto rest = MakeTextLines(choice.format, choice.keys, choice.fields);
    while (rest->Skip(again)) ++skipped;
    if (skipped != read) std::abort();
  } catch (const tandem::Error&) {
  }
  return 0;
}
