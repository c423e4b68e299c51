#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/json/json_problem.h"
#include "base/utf8.h"
#include "data/input/fields.h"
#include "data/input/text_lines.h"
#include "data/lines/json_fields.h"

namespace tandem::data {
namespace {

// A row may have as many columns as a JSON line may have keys.
constexpr size_t kMaxColumns = 1000;

class TsvLines final : public TextLines {
 public:
  TsvLines(const TextKeys& keys, const std::vector<MetadataField>& fields)
      : keys_(keys), fields_(fields), metadata_(fields.size()) {}

  bool Next(LineReader& reader, std::string_view default_id, InputText* text) override {
    std::string_view line;
    if (!NextRow(reader, &line)) return false;
    Split(reader, line);
    text->id = default_id;
    if (id_column_) {
      text->id = values_[*id_column_];
      CheckId(reader, text->id, keys_.id);
    }
    const std::string_view title = title_column_ ? values_[*title_column_] : std::string_view();
    const DocumentText joined = JoinTitle(title, values_[text_column_], &joined_);
    text->text = joined.text;
    text->title_bytes = joined.title_bytes;
    for (size_t i = 0; i < fields_.size(); ++i) {
      metadata_[i] = ValueOf(reader, fields_[i], values_[field_columns_[i]], text->id);
    }
    text->metadata = metadata_;
    return true;
  }

  bool Skip(LineReader& reader) override {
    std::string_view line;
    return NextRow(reader, &line);
  }

 private:
  // The next line after the header.
  bool NextRow(LineReader& reader, std::string_view* line) {
    if (names_.empty()) {
      if (!reader.Next(line)) return false;
      ReadHeader(reader, *line);
    }
    return reader.Next(line);
  }

  void ReadHeader(const LineReader& reader, std::string_view line) {
    Check(reader, line);
    values_.resize(1 + static_cast<size_t>(std::count(line.begin(), line.end(), '\t')));
    if (values_.size() > kMaxColumns) {
      throw reader.Error(fmt::format("has more than {} columns", kMaxColumns));
    }
    SplitAtTabs(line, values_);
    names_.assign(values_.begin(), values_.end());
    text_column_ = Require(reader, keys_.text);
    if (!keys_.id.empty()) id_column_ = Require(reader, keys_.id);
    if (keys_.role == TextRole::kDocument) title_column_ = Find(reader, "title");
    for (const MetadataField& field : fields_) {
      field_columns_.push_back(Require(reader, field.name));
    }
  }

  std::optional<size_t> Find(const LineReader& reader, std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    if (std::find(found + 1, names_.end(), name) != names_.end()) {
      throw reader.Error(fmt::format("the header has the column \"{}\" twice", name));
    }
    return static_cast<size_t>(found - names_.begin());
  }

  size_t Require(const LineReader& reader, std::string_view name) const {
    if (const std::optional<size_t> column = Find(reader, name)) return *column;
    const std::vector<std::string_view> names(names_.begin(), names_.end());
    std::string all;
    for (const std::string_view known : names) {
      all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", known);
    }
    throw reader.Error(fmt::format(
        "the header has no column \"{}\"; it has {} (--id-field and --text-field choose other "
        "columns)",
        name, all));
  }

  static void Check(const LineReader& reader, std::string_view line) {
    if (IsUtf8(line)) return;
    throw reader.Error(Utf8Problem(line));
  }

  void Split(const LineReader& reader, std::string_view line) {
    Check(reader, line);
    const size_t count = SplitAtTabs(line, values_);
    if (count == values_.size()) return;
    throw reader.Error(fmt::format("has {} column{}; the header has {}", count,
                                   count == 1 ? "" : "s", values_.size()));
  }

  // An empty value is none.
  static MetadataValue ValueOf(const LineReader& reader, const MetadataField& field,
                               std::string_view value, std::string_view id) {
    if (value.empty()) return {};
    if (field.type != MetadataType::kNumber) return {.present = true, .text = value};
    const std::optional<double> number = ParseNumber(value);
    if (!number) ThrowWrongMetadata(reader, field, id, fmt::format("\"{}\"", value));
    return {.present = true, .number = *number, .text = {}};
  }

  const TextKeys& keys_;
  const std::vector<MetadataField>& fields_;
  std::vector<std::string> names_;  // of the columns; empty before the header was read
  size_t text_column_ = 0;
  std::optional<size_t> id_column_;
  std::optional<size_t> title_column_;
  std::vector<size_t> field_columns_;     // [fields]
  std::vector<std::string_view> values_;  // [columns]
  std::vector<MetadataValue> metadata_;   // [fields]
  std::string joined_;
};

}  // namespace

std::unique_ptr<TextLines> MakeTsvLines(const TextKeys& keys,
                                        const std::vector<MetadataField>& fields) {
  return std::make_unique<TsvLines>(keys, fields);
}

}  // namespace tandem::data
