#include "import/examples/example_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/lines/line_rules.h"
#include "data/texts/empty_text.h"

namespace tandem::import_data {
namespace {

using Kind = data::JsonField::Kind;

constexpr std::string_view kWrongType = "rows with a value of another type";
constexpr std::string_view kNoQuery = "rows without a query";
constexpr std::string_view kNoDocument = "rows without a document";
constexpr std::string_view kNoLabel = "rows without a label";
constexpr std::string_view kUnknownLabel = "rows whose label has no number";
constexpr std::string_view kBadId = "rows with an id that judgements cannot hold";
constexpr std::string_view kBadCount = "rows whose clicks, impressions or position are no counts";

// `kind` must live for ever.
bool Refuse(Row& row, std::string_view kind, std::string problem) {
  row.problem_kind = kind;
  row.problem = std::move(problem);
  return false;
}

// Readers of judgements take the blanks around a field off, and tabs end it.
bool CanBeId(std::string_view id) {
  const bool has_control = std::any_of(id.begin(), id.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return !has_control && id.front() != ' ' && id.back() != ' ';
}

}  // namespace

const data::JsonField* ExampleReader::Cell(const Row& row, std::string_view name) const {
  return name.empty() ? nullptr : data::FindField(row.cells, name);
}

// A text that is missing or null is "".
bool ExampleReader::Text(Row& row, std::string_view name, std::string_view* text) {
  *text = {};
  const data::JsonField* const cell = Cell(row, name);
  if (cell == nullptr || cell->kind == Kind::kNull) return true;
  if (cell->kind == Kind::kString || cell->kind == Kind::kInteger) {
    *text = cell->text;
    return true;
  }
  return Refuse(row, kWrongType,
                fmt::format("\"{}\" is {}; expected a text", name, data::KindName(cell->kind)));
}

bool ExampleReader::Id(Row& row, std::string_view name, std::string_view* id) {
  if (!Text(row, name, id)) return false;
  if (id->empty() || CanBeId(*id)) return true;
  return Refuse(row, kBadId,
                fmt::format("\"{}\" is \"{}\": an id has no blank at its ends and no control "
                            "character",
                            name, *id));
}

bool ExampleReader::Documents(Row& row, Example* example) {
  std::string_view title, id;
  if (!Text(row, columns_.title, &title) || !Id(row, columns_.id, &id)) return false;
  const data::JsonField* const cell = Cell(row, columns_.document);
  if (cell != nullptr && cell->kind == Kind::kStrings) {
    for (const std::string_view text : cell->list) {
      if (!data::IsEmptyText(text)) example->documents.push_back({.title = title, .text = text});
    }
    if (example->documents.size() == 1) example->documents.front().id = id;
  } else {
    std::string_view text;
    if (!Text(row, columns_.document, &text)) return false;
    if (!data::IsEmptyText(text)) {
      example->documents.push_back({.title = title, .text = text, .id = id});
    }
  }
  if (!example->documents.empty()) return true;
  return Refuse(row, kNoDocument, fmt::format("\"{}\" is empty", columns_.document));
}

bool ExampleReader::Negatives(Row& row, Example* example) {
  const auto add = [&](std::string_view text) {
    if (data::IsEmptyText(text)) {
      ++example->empty_negatives;
    } else {
      example->documents.push_back({.text = text, .is_negative = true});
    }
  };
  for (const std::string& name : columns_.negatives) {
    const data::JsonField* const cell = Cell(row, name);
    if (cell != nullptr && cell->kind == Kind::kStrings) {
      for (const std::string_view text : cell->list) add(text);
      continue;
    }
    std::string_view text;
    if (!Text(row, name, &text)) return false;
    if (cell != nullptr) add(text);
  }
  return true;
}

bool ExampleReader::Number(Row& row, std::string_view name, std::optional<double>* number) {
  number->reset();
  const data::JsonField* const cell = Cell(row, name);
  const bool is_empty = cell == nullptr || cell->kind == Kind::kNull ||
                        (cell->kind == Kind::kString && data::IsEmptyText(cell->text));
  if (is_empty) return true;
  if (cell->kind == Kind::kNumber || cell->kind == Kind::kBoolean) *number = cell->number;
  if (cell->kind == Kind::kString || cell->kind == Kind::kInteger) {
    if (cell->text == "true" || cell->text == "True") *number = 1;
    if (cell->text == "false" || cell->text == "False") *number = 0;
    if (!*number) *number = data::NumberOfText(cell->text);
  }
  if (*number && **number >= 0) return true;
  return Refuse(row, kBadCount,
                fmt::format("\"{}\" is {}; expected a number from 0 on", name,
                            cell->text.empty() ? std::string(data::KindName(cell->kind))
                                               : fmt::format("\"{}\"", cell->text)));
}

bool ExampleReader::Clicks(Row& row, Example* example) {
  std::optional<double> clicks, impressions;
  if (!Number(row, columns_.clicks, &clicks) || !Number(row, columns_.impressions, &impressions) ||
      !Number(row, columns_.position, &example->position)) {
    return false;
  }
  if (example->position && *example->position < 1) {
    return Refuse(
        row, kBadCount,
        fmt::format("\"{}\" is {}; positions count from 1", columns_.position, *example->position));
  }
  if (columns_.impressions.empty()) impressions = 1;  // each row is one
  if (!clicks || !impressions) {
    return Refuse(row, kBadCount,
                  fmt::format("has no \"{}\"", !clicks ? columns_.clicks : columns_.impressions));
  }
  if (*clicks > *impressions) {
    return Refuse(row, kBadCount,
                  fmt::format("has more clicks ({}) than impressions ({})", *clicks, *impressions));
  }
  example->clicks = *clicks;
  example->impressions = *impressions;
  return true;
}

bool ExampleReader::Read(Row& row, Example* example) {
  *example = {};
  if (!Text(row, columns_.query, &example->query) ||
      !Id(row, columns_.query_id, &example->query_id) ||
      !Text(row, columns_.group, &example->group)) {
    return false;
  }
  if (data::IsEmptyText(example->query)) {
    return Refuse(row, kNoQuery, fmt::format("\"{}\" is empty", columns_.query));
  }
  if (!Documents(row, example) || !Negatives(row, example)) return false;
  if (columns_.has_clicks()) return Clicks(row, example);
  if (columns_.label.empty()) return true;
  static const data::JsonField kEmpty{.kind = Kind::kNull};
  const data::JsonField* const cell = Cell(row, columns_.label);
  const Labels::Read label = labels_.Grade(cell == nullptr ? kEmpty : *cell);
  if (!label.grade) {
    return Refuse(row, label.problem == "has no label" ? kNoLabel : kUnknownLabel, label.problem);
  }
  example->grade = *label.grade;
  return true;
}

}  // namespace tandem::import_data
