#include "data/sentence_transformers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "data/json_line.h"
#include "data/slot_table.h"
#include "data/text_hash.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;
using Names = std::array<std::string_view, 3>;

constexpr Names kQueryNames = {"anchor", "query", "question"};
constexpr Names kPositiveNames = {"positive", "document", "answer"};

// "negative" or "negative_N".
bool IsNegative(std::string_view key) {
  constexpr std::string_view kName = "negative";
  if (!key.starts_with(kName)) return false;
  key.remove_prefix(kName.size());
  if (key.empty()) return true;
  return key.size() > 1 && key[0] == '_' &&
         key.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Texts that are known by their bytes.
class DistinctTexts {
 public:
  // The index of `text`, added under `id` where it is new.
  uint32_t Intern(std::string_view text, std::string_view id) {
    const uint64_t hash = TextHash(text);
    const auto found =
        by_text_.Find(hash, [&](uint32_t index) { return texts_.text(index) == text; });
    if (found) return *found;
    const auto index = static_cast<uint32_t>(texts_.size());
    texts_.Add(id, text);
    by_text_.Insert(hash, index);
    return index;
  }
  Texts Take() { return std::move(texts_); }

 private:
  Texts texts_;
  SlotTable by_text_;
};

class ColumnsReader {
 public:
  explicit ColumnsReader(LineReader& reader) : reader_(reader) {}
  Dataset Read();

 private:
  void ReadLine(std::span<const JsonField> fields);
  const JsonField& RequireOne(std::span<const JsonField> fields, const Names& names,
                              std::string_view what) const;
  void AddDocuments(JudgedQuery& judged, const JsonField& field, double grade);
  void AddDocument(JudgedQuery& judged, std::string_view text, std::string_view id, double grade);
  void CountIfEmpty(std::string_view text);

  LineReader& reader_;
  DistinctTexts queries_;
  DistinctTexts documents_;
  Dataset dataset_;
  SlotTable judged_index_;  // (query, document) -> place in judged_places_
  struct Place {
    uint32_t query;
    uint32_t judgement;
  };
  std::vector<Place> judged_places_;
};

void ColumnsReader::CountIfEmpty(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) {
    reader_.warnings().Count(reader_.file(), "empty texts, kept", reader_.line_number());
  }
}

const JsonField& ColumnsReader::RequireOne(std::span<const JsonField> fields, const Names& names,
                                           std::string_view what) const {
  const JsonField* found = nullptr;
  for (std::string_view name : names) {
    const JsonField* field = FindField(fields, name);
    if (field == nullptr) continue;
    if (found != nullptr) {
      throw reader_.Error(
          fmt::format("has both \"{}\" and \"{}\" for the {}", found->key, name, what));
    }
    found = field;
  }
  if (found == nullptr) {
    throw reader_.Error(fmt::format("has no {}; expected one of the columns {}, {} or {}", what,
                                    names[0], names[1], names[2]));
  }
  return *found;
}

void ColumnsReader::AddDocument(JudgedQuery& judged, std::string_view text, std::string_view id,
                                double grade) {
  CountIfEmpty(text);
  const uint32_t document = documents_.Intern(text, id);
  const uint64_t hash =
      (uint64_t{judged.query} << 32 | document) * 0x9e3779b97f4a7c15;  // spreads the low bits
  const auto there = judged_index_.Find(hash, [&](uint32_t index) {
    const Place place = judged_places_[index];
    return place.query == judged.query && judged.judgements[place.judgement].document == document;
  });
  if (!there) {
    judged_index_.Insert(hash, static_cast<uint32_t>(judged_places_.size()));
    judged_places_.push_back({judged.query, static_cast<uint32_t>(judged.judgements.size())});
    judged.judgements.push_back({document, grade});
    return;
  }
  double& standing = judged.judgements[judged_places_[*there].judgement].grade;
  if (standing != grade) {
    standing = std::max(standing, grade);
    reader_.warnings().Count(reader_.file(),
                             "texts that are positive and negative of one query, taken as positive",
                             reader_.line_number());
  }
}

void ColumnsReader::AddDocuments(JudgedQuery& judged, const JsonField& field, double grade) {
  const std::string id = fmt::format("{}:{}", reader_.line_number(), field.key);
  if (field.kind == Kind::kString) {
    AddDocument(judged, field.text, id, grade);
  } else if (field.kind == Kind::kStrings) {
    for (size_t i = 0; i < field.list.size(); ++i) {
      AddDocument(judged, field.list[i], fmt::format("{}:{}", id, i + 1), grade);
    }
  } else {
    throw reader_.Error(fmt::format("\"{}\" is {}; expected a string or a list of strings",
                                    field.key, KindName(field.kind)));
  }
}

void ColumnsReader::ReadLine(std::span<const JsonField> fields) {
  const JsonField& query = RequireOne(fields, kQueryNames, "query");
  const JsonField& positive = RequireOne(fields, kPositiveNames, "positive");
  if (query.kind != Kind::kString) {
    throw reader_.Error(
        fmt::format("\"{}\" is {}; expected a string", query.key, KindName(query.kind)));
  }
  if (positive.kind == Kind::kStrings && positive.list.empty()) {
    throw reader_.Error(fmt::format("\"{}\" is an empty list", positive.key));
  }
  CountIfEmpty(query.text);
  const uint32_t index = queries_.Intern(query.text, fmt::format("{}", reader_.line_number()));
  if (index == dataset_.judged.size()) dataset_.judged.push_back({index, {}});
  JudgedQuery& judged = dataset_.judged[index];
  AddDocuments(judged, positive, 1);
  for (const JsonField& field : fields) {
    if (IsNegative(field.key)) {
      AddDocuments(judged, field, 0);
    } else if (&field != &query && &field != &positive) {
      reader_.warnings().Count(reader_.file(), "values of other columns, ignored",
                               reader_.line_number(), field.key);
    }
  }
}

Dataset ColumnsReader::Read() {
  JsonLineParser parser;
  std::string_view line;
  while (reader_.Next(&line)) ReadLine(parser.Parse(reader_, line));
  if (dataset_.judged.empty()) throw DataError(reader_.file(), 0, "", "holds no example");
  dataset_.queries = queries_.Take();
  dataset_.documents = documents_.Take();
  return std::move(dataset_);
}

}  // namespace

Dataset ReadColumns(LineReader& reader) { return ColumnsReader(reader).Read(); }

Dataset ReadColumns(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadColumns(reader);
}

}  // namespace tandem::data
