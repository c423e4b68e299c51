#include "data/dataset_builder.h"

#include <fmt/format.h>

#include <utility>

#include "base/text_hash.h"
#include "data/empty_text.h"

namespace tandem::data {
namespace {

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

uint32_t DatasetBuilder::InternText(Interned& interned, std::string_view text,
                                    std::string_view id) {
  CountIfEmpty(text);
  const uint64_t hash = TextHash(text);
  const auto found = interned.by_text.Find(
      hash, [&](uint32_t index) { return interned.texts.text(index) == text; });
  if (found) return *found;
  const auto index = static_cast<uint32_t>(interned.texts.size());
  interned.texts.Add(id, text);
  interned.by_text.Insert(hash, index);
  return index;
}

uint32_t DatasetBuilder::InternId(Interned& interned, std::string_view what, std::string_view id,
                                  std::string_view text, size_t title_bytes) {
  if (const auto found = interned.texts.Find(id)) {
    if (interned.texts.text(*found) == text) return *found;
    throw reader_.Error(
        fmt::format("{} has another text here than in an earlier line; an id can have one text "
                    "only",
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

uint32_t DatasetBuilder::QueryOfText(std::string_view text, std::string_view id) {
  return Judged(InternText(queries_, text, id));
}
uint32_t DatasetBuilder::QueryOfId(std::string_view id, std::string_view text) {
  return Judged(InternId(queries_, "query", id, text, 0));
}
uint32_t DatasetBuilder::DocumentOfText(std::string_view text, std::string_view id) {
  return InternText(documents_, text, id);
}
uint32_t DatasetBuilder::DocumentOfId(std::string_view id, std::string_view text,
                                      size_t title_bytes) {
  return InternId(documents_, "document", id, text, title_bytes);
}

void DatasetBuilder::Judge(uint32_t query, uint32_t document, double grade, double score) {
  const Judgement found{document, grade, score, static_cast<uint32_t>(reader_.line_number())};
  std::vector<Judgement>& judgements = judged_[query].judgements;
  const uint64_t hash =
      (uint64_t{query} << 32 | document) * 0x9e3779b97f4a7c15;  // spreads the low bits
  const auto there = judged_index_.Find(hash, [&](uint32_t index) {
    const Place place = judged_places_[index];
    return place.query == query && judgements[place.judgement].document == document;
  });
  if (there) return Merge(judgements[judged_places_[*there].judgement], found);
  judged_index_.Insert(hash, static_cast<uint32_t>(judged_places_.size()));
  judged_places_.push_back({query, static_cast<uint32_t>(judgements.size())});
  judgements.push_back(found);
}

void DatasetBuilder::Merge(Judgement& standing, const Judgement& found) {
  if (standing.grade != found.grade) {
    if (found.grade > standing.grade) standing = found;
    reader_.warnings().Count(reader_.file(),
                             "texts that are positive and negative of one query, taken as positive",
                             reader_.line_number());
  } else if (!standing.has_score()) {
    standing.score = found.score;
  } else if (found.has_score() && standing.score != found.score) {
    reader_.warnings().Count(reader_.file(), "pairs with two scores, the first kept",
                             reader_.line_number());
  }
}

void DatasetBuilder::SetScoreKind(ScoreKind kind) {
  if (scores_ != ScoreKind::kNone && scores_ != kind) {
    throw MixedScoreKinds(reader_, kind, scores_);
  }
  scores_ = kind;
}

void DatasetBuilder::CountIgnored(std::string_view key) {
  reader_.warnings().Count(reader_.file(), "values of other columns, ignored",
                           reader_.line_number(), key);
}

Dataset DatasetBuilder::Take() {
  if (judged_.empty()) throw DataError(reader_.file(), 0, "", "holds no example");
  return {.documents = std::move(documents_.texts),
          .queries = std::move(queries_.texts),
          .judged = std::move(judged_),
          .file = reader_.file(),
          .scores = scores_,
          .query_prompt = query_prompt_};
}

}  // namespace tandem::data
