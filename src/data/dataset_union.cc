#include "data/dataset_union.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace tandem::data {
namespace {

// Appends the texts of `part` to `all` and returns the number of the first one.
uint32_t AppendTexts(const Texts& part, size_t number, Texts& all) {
  const auto first = static_cast<uint32_t>(all.size());
  for (size_t i = 0; i < part.size(); ++i) {
    all.Add(fmt::format("{}:{}", number, part.id(i)), part.text(i), part.title(i).size());
  }
  return first;
}

// Says whether `count` texts of `all` from `first` on are those of `part`.
bool AreTexts(const Texts& all, size_t first, size_t count, const Texts& part) {
  if (part.size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view id = all.id(first + i);  // with the part's number and a colon in front
    if (id.substr(id.find(':') + 1) != part.id(i)) return false;
    if (all.text(first + i) != part.text(i)) return false;
  }
  return true;
}

}  // namespace

UnionPart DatasetUnion::Append(const Dataset& part) {
  const size_t number = parts_.size() + 1;
  return {.first_query = AppendTexts(part.queries, number, all_.queries),
          .queries = static_cast<uint32_t>(part.queries.size()),
          .first_document = AppendTexts(part.documents, number, all_.documents),
          .documents = static_cast<uint32_t>(part.documents.size())};
}

bool DatasetUnion::HasTextsOf(size_t number, const Dataset& part) const {
  const UnionPart& other = parts_[number];
  return AreTexts(all_.queries, other.first_query, other.queries, part.queries) &&
         AreTexts(all_.documents, other.first_document, other.documents, part.documents);
}

void DatasetUnion::Add(Dataset part, std::optional<size_t> texts_of) {
  const auto number = static_cast<uint32_t>(parts_.size());
  const bool shares = texts_of && HasTextsOf(*texts_of, part);
  const UnionPart place = shares ? parts_[*texts_of] : Append(part);
  for (JudgedQuery& judged : part.judged) {
    judged.query += place.first_query;
    judged.source = number;
    for (Judgement& judgement : judged.judgements) judgement.document += place.first_document;
    all_.judged.push_back(std::move(judged));
  }
  if (number == 0) {
    all_.file = part.file;
    all_.query_prompt = part.query_prompt;
  }
  if (all_.query_prompt != part.query_prompt) all_.query_prompt.clear();
  if (all_.scores == ScoreKind::kNone) all_.scores = part.scores;
  all_.has_grades = all_.has_grades || part.has_grades;
  parts_.push_back(place);
  shares_.push_back(shares);
}

Dataset DatasetUnion::Take() {
  parts_.clear();
  shares_.clear();
  return std::exchange(all_, {});
}

}  // namespace tandem::data
