#include "data/judgements/qrels.h"

#include <stdexcept>

#include "base/hashes/text_hash.h"
#include "data/texts/id_hash.h"

namespace tandem::data {
namespace {

uint64_t PlaceHash(uint32_t query, std::string_view document) {
  // The multiplication by an odd number gives pairs of different queries different hashes.
  return IdHash(document) + (query + uint64_t{1}) * 0x9e3779b97f4a7c15;
}

}  // namespace

const QueryJudgements* Qrels::Find(std::string_view query) const {
  const auto index = query_index_.Find(
      TextHash(query), [&](uint32_t candidate) { return queries_[candidate].query == query; });
  return index ? &queries_[*index] : nullptr;
}

uint32_t Qrels::QueryIndex(std::string_view query) {
  if (last_query_ < queries_.size() && queries_[last_query_].query == query) return last_query_;
  if (const QueryJudgements* found = Find(query)) {
    last_query_ = static_cast<uint32_t>(found - queries_.data());
    return last_query_;
  }
  last_query_ = static_cast<uint32_t>(queries_.size());
  query_index_.Insert(TextHash(query), last_query_);
  queries_.push_back({arena_.Copy(query), {}});
  return last_query_;
}

Qrels::Added Qrels::Add(std::string_view query, std::string_view document, double grade,
                        uint32_t line) {
  if (places_.size() >= UINT32_MAX) throw std::length_error("more than 2^32 - 1 judgements");
  const uint32_t q = QueryIndex(query);
  const uint64_t hash = PlaceHash(q, document);
  const auto judged = [&](Place place) -> const GradedDocument& {
    return queries_[place.query].judgements[place.judgement];
  };
  const auto there = place_index_.Find(hash, [&](uint32_t order) {
    return places_[order].query == q && judged(places_[order]).document == document;
  });
  if (there) return {false, judged(places_[*there]).grade, *there};
  const auto order = static_cast<uint32_t>(places_.size());
  std::vector<GradedDocument>& judgements = queries_[q].judgements;
  place_index_.Insert(hash, order);
  places_.push_back({q, static_cast<uint32_t>(judgements.size())});
  judgements.push_back({arena_.Copy(document), grade, line});
  return {true, grade, order};
}

}  // namespace tandem::data
