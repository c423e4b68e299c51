// Scores of pairs: of one query with every document, or of pairs as they are given.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/bodies/json_request.h"
#include "serve/bodies/json_writer.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

// Texts that are numbered in the order in which they first come; each is encoded once.
class NumberedTexts {
 public:
  uint32_t Add(std::string text) {
    const auto [entry, added] =
        numbers_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(entry->first);
    return entry->second;
  }
  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

double Score(std::span<const float> query, std::span<const float> document, bool cosine) {
  double sum = 0;
  for (size_t i = 0; i < query.size(); ++i) sum += double{query[i]} * document[i];
  if (!cosine) return sum;
  const double lengths = Length(query) * Length(document);
  return lengths > 0 ? sum / lengths : 0;
}

class Similarity final : public PostedRequest {
 public:
  void Parse(std::string* body, const Backend&, const RequestLimits& limits,
             RequestTexts* texts) override {
    std::optional<std::string> query;
    std::vector<std::string> documents;
    NumberedTexts pair_queries, pair_documents;
    const auto add = [&](std::string of_query, std::string of_document) {
      const uint32_t number = pair_queries.Add(std::move(of_query));
      pairs_.emplace_back(number, pair_documents.Add(std::move(of_document)));
    };
    ReadMembers(
        body,
        {StringMember("query", &query), StringsMember("documents", limits.texts - 1, &documents),
         PairsMember("pairs", limits.texts / 2, add)},
        OtherMembers::kRefused);
    const bool listed = !pairs_.empty();
    if (listed ? query || !documents.empty() : !query || documents.empty()) {
      throw MissingMember("give `query` and `documents`, or `pairs`");
    }
    std::vector<std::string> queries = listed ? pair_queries.Take() : std::vector{*query};
    if (listed) documents = pair_documents.Take();
    for (uint32_t d = 0; !listed && d < documents.size(); ++d) pairs_.emplace_back(0, d);
    queries_ = queries.size();
    texts->Add(std::move(queries), TextKind::kQuery);
    texts->Add(std::move(documents), TextKind::kDocument);
  }

  std::string Answer(const AnswerInput& input) const override {
    const BackendInfo& info = input.backend.info();
    std::string scores, probabilities;
    for (const auto& [query, document] : pairs_) {
      const auto score = static_cast<float>(Score(
          input.encoded[query], input.encoded[queries_ + document], info.similarity == "cosine"));
      if (!scores.empty()) scores += ',';
      AppendJsonFloat(&scores, score);
      if (const std::optional<double> probability = input.backend.Probability(score)) {
        if (!probabilities.empty()) probabilities += ',';
        AppendJsonNumber(&probabilities, *probability);
      }
    }
    std::string out = fmt::format("{{\"scores\":[{}]", scores);
    if (info.calibrated) out += fmt::format(",\"probabilities\":[{}]", probabilities);
    out += fmt::format(",\"similarity\":\"{}\"", info.similarity);
    AppendCounts(&out, input.encoded);
    return out += "}\n";
  }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;  // numbers of a query and a document
  size_t queries_ = 0;                                // their rows stand before the documents'
};

constexpr std::string_view kSimilarityRequest =
    R"json({"type":"object","additionalProperties":false,
  "description":"One query with documents, or pairs.","properties":{
  "query":{"type":"string"},
  "documents":{"type":"array","items":{"type":"string"},"minItems":1},
  "pairs":{"type":"array","minItems":1,"items":{"type":"array","items":{"type":"string"},
    "minItems":2,"maxItems":2,"description":"[query, document]"}}}})json";

constexpr std::string_view kSimilarityResponse = R"json({"type":"object","properties":{
  "scores":{"type":"array","items":{"type":"number"}},
  "probabilities":{"type":"array","items":{"type":"number"},
    "description":"Of a calibrated model only."},
  "similarity":{"type":"string","enum":["cosine","dot"]},
  "tokens":{"type":"integer"},"truncated_texts":{"type":"integer"}}})json";

}  // namespace

extern const Route kSimilarityRoute{.path = "/similarity",
                                    .summary = "Scores of a query with documents, or of pairs",
                                    .request = kSimilarityRequest,
                                    .response = kSimilarityResponse,
                                    .post = MakeRequest<Similarity>};

}  // namespace tandem::serve
