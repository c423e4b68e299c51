#include "index/segments/metadata_columns.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tandem::index {
namespace {

std::string ColumnName(size_t field) { return fmt::format("field-{}", field); }
std::string NumbersName(size_t field) { return ColumnName(field) + ".numbers"; }
std::string PresentName(size_t field) { return ColumnName(field) + ".present"; }

}  // namespace

std::vector<std::string> MetadataFiles(const std::vector<data::MetadataField>& fields) {
  std::vector<std::string> names;
  for (size_t n = 0; n < fields.size(); ++n) {
    if (fields[n].type == data::MetadataType::kNumber) {
      names.push_back(NumbersName(n));
      continue;
    }
    for (std::string& name : TextColumnFiles(ColumnName(n))) names.push_back(std::move(name));
    names.push_back(PresentName(n));
  }
  return names;
}

struct MetadataWriter::Column {
  std::optional<AtomicFile> numbers;
  std::optional<AtomicFile> present;
  std::optional<TextColumnWriter> texts;
  uint64_t word = 0;  // of `present`, under way
  size_t rows = 0;

  void Add(const data::MetadataValue& value) {
    if (numbers) {
      const double number = value.present ? value.number : std::numeric_limits<double>::quiet_NaN();
      numbers->Write(BytesOf(std::span<const double>(&number, 1)));
      return;
    }
    texts->Add(value.present ? value.text : std::string_view());
    word |= uint64_t{value.present} << (rows % 64);
    if (++rows % 64 == 0) WriteWord();
  }

  void WriteWord() {
    present->Write(BytesOf(std::span<const uint64_t>(&word, 1)));
    word = 0;
  }

  void Commit() {
    if (numbers) return numbers->Commit();
    if (rows % 64 != 0) WriteWord();
    texts->Commit();
    present->Commit();
  }
};

MetadataWriter::MetadataWriter(const std::filesystem::path& folder,
                               const std::vector<data::MetadataField>& fields) {
  for (size_t n = 0; n < fields.size(); ++n) {
    Column& column = *columns_.emplace_back(std::make_unique<Column>());
    if (fields[n].type == data::MetadataType::kNumber) {
      column.numbers.emplace(folder / NumbersName(n));
    } else {
      column.texts.emplace(folder, ColumnName(n));
      column.present.emplace(folder / PresentName(n));
    }
  }
}

MetadataWriter::~MetadataWriter() = default;

void MetadataWriter::Add(std::span<const data::MetadataValue> values) {
  for (size_t n = 0; n < columns_.size(); ++n) columns_[n]->Add(values[n]);
}

void MetadataWriter::Commit() {
  for (const auto& column : columns_) column->Commit();
}

MetadataColumns::MetadataColumns(const std::filesystem::path& folder,
                                 const std::vector<data::MetadataField>& fields, size_t rows) {
  for (size_t n = 0; n < fields.size(); ++n) {
    Column& column = columns_.emplace_back();
    if (fields[n].type == data::MetadataType::kNumber) {
      column.numbers.emplace(folder / NumbersName(n), rows);
    } else {
      column.texts.emplace(folder, ColumnName(n), rows);
      column.present.emplace(folder / PresentName(n), BitWords(rows));
    }
  }
}

data::MetadataValue MetadataColumns::Value(size_t row, size_t field) const {
  const Column& column = columns_[field];
  data::MetadataValue value;
  if (column.numbers) {
    value.number = column.numbers->values()[row];
    value.present = !std::isnan(value.number);
    if (!value.present) value.number = 0;
  } else {
    value.present = BitOf(column.present->values(), row);
    if (value.present) value.text = (*column.texts)[row];
  }
  return value;
}

}  // namespace tandem::index
