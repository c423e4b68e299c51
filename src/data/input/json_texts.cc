#include "data/input/json_texts.h"

#include <fmt/format.h>

#include <vector>

#include "data/lines/json_fields.h"

namespace tandem::data {
namespace {

constexpr size_t kShownKeys = 8;  // of a line, in a message

// "_id", "text": the first keys of a line.
std::string KeysOf(std::span<const JsonField> fields) {
  std::string keys;
  for (const JsonField& field : fields.subspan(0, std::min(fields.size(), kShownKeys))) {
    keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", field.key);
  }
  return fields.size() > kShownKeys ? keys + ", ..." : keys;
}

}  // namespace

void JsonTexts::ThrowMissing(const LineReader& reader, std::string_view key,
                             std::string_view id) const {
  if (!keys_.chosen_by_flags) {
    throw reader.Error(fmt::format(R"(has no "{}"; expected {{"_id": ..., "text": ...}})", key),
                       id);
  }
  throw reader.Error(
      fmt::format(R"(has no "{}"; it has {} (--id-field and --text-field choose other keys))", key,
                  fields_.empty() ? "no keys" : KeysOf(fields_)),
      id);
}

std::string_view JsonTexts::Id(const LineReader& reader) const {
  if (FindField(fields_, keys_.id) == nullptr) {
    if (!keys_.chosen_by_flags && FindField(fields_, "id") != nullptr) {
      throw reader.Error(R"(has "id" where BEIR's files have "_id"; rename the key)");
    }
    ThrowMissing(reader, keys_.id, {});
  }
  return RequireId(reader, fields_, keys_.id);
}

JsonText JsonTexts::Read(const LineReader& reader, std::string_view line,
                         std::string_view default_id) {
  fields_ = parser_.Parse(reader, line);
  has_members_ = false;
  JsonText text{.id = keys_.id.empty() ? default_id : Id(reader), .text = {}};
  if (FindField(fields_, keys_.text) == nullptr && keys_.chosen_by_flags) {
    ThrowMissing(reader, keys_.text, text.id);
  }
  if (keys_.role == TextRole::kQuery) {
    text.text = RequireText(reader, fields_, keys_.text, text.id);
    return text;
  }
  const DocumentText document = RequireDocumentText(reader, fields_, text.id, &joined_, keys_.text);
  text.text = document.text;
  text.title_bytes = document.title_bytes;
  return text;
}

const JsonField* JsonTexts::FindMetadata(const LineReader& reader, std::string_view key) {
  const JsonField* field = FindField(fields_, key);
  if (IsGiven(field)) return field;
  if (!has_members_) members_ = parser_.Members(reader, "metadata");
  has_members_ = true;
  field = FindField(members_, key);
  return IsGiven(field) ? field : nullptr;
}

}  // namespace tandem::data
