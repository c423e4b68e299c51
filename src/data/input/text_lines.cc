#include "data/input/text_lines.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/json/json_problem.h"
#include "base/utf8.h"

namespace tandem::data {
namespace {

constexpr size_t kShownBytes = 40;  // of a string, in a message

// Quotes at most kShownBytes of a valid text.
std::string Quoted(std::string_view text) {
  if (text.size() <= kShownBytes) return fmt::format("\"{}\"", text);
  size_t end = kShownBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole characters
  return fmt::format("\"{}...\"", text.substr(0, end));
}

class JsonLines final : public TextLines {
 public:
  JsonLines(const TextKeys& keys, const std::vector<MetadataField>& fields)
      : texts_(keys), fields_(fields), metadata_(fields.size()) {}

  bool Next(LineReader& reader, std::string_view default_id, InputText* text) override {
    std::string_view line;
    if (!reader.Next(&line)) return false;
    const JsonText read = texts_.Read(reader, line, default_id);
    for (size_t i = 0; i < fields_.size(); ++i) {
      metadata_[i] = ValueOf(reader, fields_[i], read.id);
    }
    text->id = read.id;
    text->text = read.text;
    text->title_bytes = read.title_bytes;
    text->metadata = metadata_;
    return true;
  }

  bool Skip(LineReader& reader) override {
    std::string_view line;
    return reader.Next(&line);
  }

 private:
  MetadataValue ValueOf(const LineReader& reader, const MetadataField& field, std::string_view id) {
    const JsonField* found = texts_.FindMetadata(reader, field.name);
    if (found == nullptr) return {};
    if (field.type == MetadataType::kNumber && found->is_number()) {
      return {.present = true, .number = found->number, .text = {}};
    }
    if (field.type == MetadataType::kString && found->kind == JsonField::Kind::kString) {
      return {.present = true, .text = found->text};
    }
    if (field.type == MetadataType::kScalar) {
      if (found->kind == JsonField::Kind::kNull) return {};
      if (const std::optional<std::string_view> text = ScalarText(*found)) {
        return {.present = true, .text = *text};
      }
    }
    ThrowWrongMetadata(reader, field, id, Description(*found));
  }

  static std::optional<std::string_view> ScalarText(const JsonField& field) {
    using Kind = JsonField::Kind;
    if (field.kind == Kind::kString || field.kind == Kind::kInteger) return field.text;
    if (field.kind == Kind::kBoolean) return field.number != 0 ? "true" : "false";
    return std::nullopt;
  }

  static std::string Description(const JsonField& field) {
    if (field.is_number()) return fmt::format("{}", field.number);
    if (field.kind != JsonField::Kind::kString) return std::string(KindName(field.kind));
    return Quoted(field.text);
  }

  JsonTexts texts_;
  const std::vector<MetadataField>& fields_;
  std::vector<MetadataValue> metadata_;  // [fields]
};

// Blank lines are texts too, so that the n-th text is the n-th line.
class PlainLines final : public TextLines {
 public:
  bool Next(LineReader& reader, std::string_view default_id, InputText* text) override {
    std::string_view line;
    if (!reader.NextWithBlank(&line)) return false;
    if (!IsUtf8(line)) {
      throw reader.Error(Utf8Problem(line));
    }
    text->id = default_id;
    text->text = line;
    text->title_bytes = 0;
    text->metadata = {};
    return true;
  }

  bool Skip(LineReader& reader) override {
    std::string_view line;
    return reader.NextWithBlank(&line);
  }
};

}  // namespace

void ThrowWrongMetadata(const LineReader& reader, const MetadataField& field, std::string_view id,
                        std::string_view found) {
  if (field.type == MetadataType::kScalar) {
    throw reader.Error(fmt::format("\"{}\" is {}; groups are told apart by a string, an integer, "
                                   "true or false",
                                   field.name, found),
                       id);
  }
  throw reader.Error(
      fmt::format("\"{}\" is {}; expected a {}, as the field {}:{} says", field.name, found,
                  MetadataTypeName(field.type), field.name, MetadataTypeName(field.type)),
      id);
}

std::unique_ptr<TextLines> MakeTextLines(TextFormat format, const TextKeys& keys,
                                         const std::vector<MetadataField>& fields) {
  switch (format) {
    case TextFormat::kTsv:
      return MakeTsvLines(keys, fields);
    case TextFormat::kLines:
      if (!fields.empty()) {
        throw UsageError(fmt::format(
            "plain lines have no fields, and so not {}; fields come from JSON lines and TSV",
            fields.front().name));
      }
      return std::make_unique<PlainLines>();
    case TextFormat::kJsonLines:
      break;
  }
  return std::make_unique<JsonLines>(keys, fields);
}

}  // namespace tandem::data
