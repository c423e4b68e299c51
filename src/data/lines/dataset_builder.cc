#include "data/lines/dataset_builder.h"

#include <fmt/format.h>

#include <utility>

#include "base/hashes/text_hash.h"
#include "data/texts/empty_text.h"

namespace tandem::data {
namespace {

// Names of keys that are not read; a file whose keys are all different must not fill the memory.
constexpr size_t kMostIgnored = 1000;

std::string_view KindPhrase(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::kPairs:
      return "a score for its pair";
    case ScoreKind::kLists:
      return "a score for each document";
    case ScoreKind::kProbabilities:
      return "a judge's probabilities";
    case ScoreKind::kMargins:
      return "margins between its positive and its negatives";
    case ScoreKind::kNone:
      break;
  }
  return "no scores";
}

}  // namespace

DataError MixedScoreKinds(const LineReader& reader, ScoreKind found, ScoreKind before) {
  return reader.Error(
      fmt::format("has {}, where earlier lines have {}; a file can have one of them only",
                  KindPhrase(found), KindPhrase(before)));
}

void DatasetBuilder::CountIfEmpty(std::string_view text) {
  if (IsEmptyText(text)) {
    reader_.warnings().Count(reader_.file(), "empty texts, kept", reader_.line_number());
  }
}

uint32_t DatasetBuilder::InternText(Interned& interned, std::string_view text, std::string_view id,
                                    size_t title_bytes, uint64_t apart) {
  CountIfEmpty(text);
  const uint64_t hash = TextHash(text) ^ apart;
  const auto is_it = [&](uint32_t index) {
    if (interned.texts.text(index) != text) return false;
    const auto found = interned.apart.find(index);
    return (found == interned.apart.end() ? 0 : found->second) == apart;
  };
  if (const auto found = interned.by_text.Find(hash, is_it)) return *found;
  const auto index = static_cast<uint32_t>(interned.texts.size());
  if (!interned.texts.Add(id, text, title_bytes)) {
    throw reader_.Error("has a text without an id, and its place in the file is another one's id",
                        id);
  }
  if (apart != 0) interned.apart[index] = apart;
  interned.by_text.Insert(hash, index);
  return index;
}

uint32_t DatasetBuilder::InternId(Interned& interned, std::string_view what, std::string_view id,
                                  std::string_view text, size_t title_bytes) {
  if (const auto found = interned.texts.Find(id)) {
    if (interned.texts.text(*found) == text) return *found;
    throw reader_.Error(
        fmt::format("{} has another text here than in an earlier line; an id can have one text "
                    "only. Where ids count within a line, data.ids = \"text\" in a recipe (--ids "
                    "text elsewhere) goes by the texts",
                    what),
        id);
  }
  CountIfEmpty(text);
  interned.texts.Add(id, text, title_bytes);
  return static_cast<uint32_t>(interned.texts.size() - 1);
}

uint32_t DatasetBuilder::Judged(uint32_t query) {
  if (query == judged_.size()) judged_.push_back({query, {}});
  return query;
}

uint32_t DatasetBuilder::QueryOfText(std::string_view text, std::string_view id, uint64_t apart) {
  return Judged(InternText(queries_, text, id, 0, apart));
}
uint32_t DatasetBuilder::QueryOfId(std::string_view id, std::string_view text) {
  return Judged(InternId(queries_, "query", id, text, 0));
}
uint32_t DatasetBuilder::DocumentOfText(std::string_view text, std::string_view id,
                                        size_t title_bytes) {
  return InternText(documents_, text, id, title_bytes, 0);
}
uint32_t DatasetBuilder::DocumentOfId(std::string_view id, std::string_view text,
                                      size_t title_bytes) {
  return InternId(documents_, "document", id, text, title_bytes);
}

void DatasetBuilder::Judge(uint32_t query, uint32_t document, double grade, double score) {
  tally_.Add(score);
  if (tally_.IsAgainstList(score, grade)) against_lists_.Add(reader_.line_number());
  const Judgement found{document, grade, score, static_cast<uint32_t>(reader_.line_number())};
  std::vector<Judgement>& judgements = judged_[query].judgements;
  const uint64_t hash =
      (uint64_t{query} << 32 | document) * 0x9e3779b97f4a7c15;  // spreads the low bits
  const auto there = judged_index_.Find(hash, [&](uint32_t index) {
    const Place place = judged_places_[index];
    return place.query == query && judgements[place.judgement].document == document;
  });
  if (there) return Merge(judged_places_[*there], found);
  judged_index_.Insert(hash, static_cast<uint32_t>(judged_places_.size()));
  judged_places_.push_back({query, static_cast<uint32_t>(judgements.size())});
  judgements.push_back(found);
}

void DatasetBuilder::Merge(Place place, const Judgement& found) {
  Judgement& standing = judged_[place.query].judgements[place.judgement];
  const int64_t line = reader_.line_number();
  const bool both = standing.has_score() && found.has_score();
  if (both && standing.score != found.score && tally_.only_labels()) {
    labelled_twice_.push_back(place);
    label_contradictions_.Add(line);
  }
  if (standing.grade != found.grade) {
    contradictions_.Add(line);
    if (!both) label_contradictions_.Add(line);
    if (found.grade > standing.grade) standing = found;
  } else if (!standing.has_score()) {
    standing.score = found.score;
  } else if (both && standing.score != found.score) {
    two_scores_.Add(line);
  }
}

// A document with both labels is a positive, as one that is in a list of positives and in one of
// negatives.
void DatasetBuilder::SettleLabels() {
  for (const Place place : labelled_twice_)
    judged_[place.query].judgements[place.judgement].score = 1;
  for (JudgedQuery& query : judged_) {
    for (Judgement& judgement : query.judgements) {
      if (judgement.has_score()) judgement.grade = judgement.score;
    }
  }
}

void DatasetBuilder::CountSkipped() {
  reader_.warnings().Count(reader_.file(), "negatives that are null or empty, left out",
                           reader_.line_number());
}

void DatasetBuilder::CountIgnored(std::string_view key) {
  all_ignored_.Add(reader_.line_number());
  const auto found = ignored_.find(key);
  if (found != ignored_.end()) {
    ++found->second;
  } else if (ignored_.size() < kMostIgnored) {
    ignored_.emplace(key, 1);
  } else {
    ++ignored_["others"];
  }
}

void DatasetBuilder::ReportIgnored() {
  std::string names;
  for (const auto& [key, count] : ignored_) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", key, count);
  }
  Report(all_ignored_, fmt::format("values of keys that are not read: {}; all together", names));
}

void DatasetBuilder::Report(const Count& count, std::string_view kind) {
  reader_.warnings().Count(reader_.file(), kind, count.first_line, "", count.count);
}

Dataset DatasetBuilder::Take() {
  ReportIgnored();
  if (judged_.empty()) throw DataError(reader_.file(), 0, "", "holds no example");
  tally_.EndFile(reader_);
  const ScoreMeaning meaning = tally_.Meaning();
  const bool labels = meaning == ScoreMeaning::kLabels;
  if (labels) SettleLabels();
  Report(labels ? label_contradictions_ : contradictions_,
         "texts that are positive and negative of one query, taken as positive");
  if (labels) Report(against_lists_, kAgainstLists);
  if (!labels) Report(two_scores_, "pairs with two scores, the first kept");
  return {.documents = std::move(documents_.texts),
          .queries = std::move(queries_.texts),
          .judged = std::move(judged_),
          .file = reader_.file(),
          .scores = tally_.kind(),
          .query_prompt = query_prompt_,
          .meaning = meaning,
          .undecided = tally_.undecided()};
}

}  // namespace tandem::data
