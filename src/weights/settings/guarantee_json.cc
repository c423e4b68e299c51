#include "weights/settings/guarantee_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr int64_t kMostCounted = std::numeric_limits<int64_t>::max();
constexpr double kMostScore = std::numeric_limits<float>::max();

size_t CountIn(const Settings& settings, std::string_view key) {
  return static_cast<size_t>(settings.RequiredInteger(key, 0, kMostCounted));
}

double NumberIn(const Settings& settings, std::string_view key, double least, double most) {
  const std::optional<double> number = settings.Number(key, least, most);
  if (!number) settings.Fail(key, "a number");
  return *number;
}

// What an entry of the list "promises" must not lack.
void CheckMembers(const Settings& entry, const Guarantee& guarantee) {
  if (entry.Has("group") && !entry.Has("by")) {
    entry.Fail("group", "'by', the field that it is a value of, beside it, or no group");
  }
  if (entry.Has("by") && (!entry.Has("group") || guarantee.by.empty())) {
    entry.Fail("by", "the name of a field, with 'group', a value of it, beside it");
  }
  if (guarantee.promise.kind == eval::PromiseKind::kNoAnswer && guarantee.unanswerable.empty()) {
    entry.Fail("unanswerable", "the name of the queries without an answer");
  }
}

Guarantee ReadGuarantee(const Settings& entry) {
  Guarantee guarantee;
  try {
    guarantee.promise = eval::ParsePromise(entry.RequiredString("promise"));
  } catch (const UsageError&) {
    entry.Fail("promise", "a promise such as recall=0.9");
  }
  guarantee.by = entry.String("by").value_or("");
  guarantee.group = entry.String("group").value_or("");
  guarantee.threshold = NumberIn(entry, "threshold", -kMostScore, kMostScore);
  guarantee.depth = static_cast<size_t>(entry.Integer("depth", 1, kMostGuaranteeDepth).value_or(0));
  guarantee.judged_only = entry.Boolean("judged_only").value_or(false);
  guarantee.unanswerable = entry.String("unanswerable").value_or("");
  guarantee.queries = CountIn(entry, "queries");
  guarantee.loss = NumberIn(entry, "loss", 0, 1);
  guarantee.nothing = NumberIn(entry, "nothing", 0, 1);
  CheckMembers(entry, guarantee);
  return guarantee;
}

GuaranteeBasis ReadBasis(const Settings& basis) {
  return {.data = basis.RequiredString("data"),
          .split = basis.RequiredString("split"),
          .data_fingerprint = basis.RequiredString("data_fingerprint"),
          .date = basis.RequiredString("date"),
          .documents = CountIn(basis, "documents"),
          .relevance_level = NumberIn(basis, "relevance_level", 0, kMostScore),
          .model_fingerprint = basis.RequiredString("model_fingerprint"),
          .similarity = basis.RequiredString("similarity"),
          .precision = basis.RequiredString("precision"),
          .width = CountIn(basis, "width"),
          .query_prompt = basis.RequiredString("query_prompt"),
          .document_prompt = basis.RequiredString("document_prompt"),
          .max_query_tokens = CountIn(basis, "max_query_tokens"),
          .max_document_tokens = CountIn(basis, "max_document_tokens")};
}

// The list under `key`, which must be there and not be empty.
const Json& ListIn(const Settings& settings, std::string_view key, std::string_view expected) {
  const Json* list = settings.Find(key);
  if (list == nullptr || !list->is_array() || list->empty()) settings.Fail(key, expected);
  return *list;
}

Json JsonOfGuarantee(const Guarantee& guarantee) {
  Json json = {{"promise", guarantee.promise.Name()}};
  if (!guarantee.by.empty()) {
    json["by"] = guarantee.by;
    json["group"] = guarantee.group;
  }
  json["threshold"] = guarantee.threshold;
  if (guarantee.depth > 0) json["depth"] = guarantee.depth;
  if (guarantee.judged_only) json["judged_only"] = true;
  if (!guarantee.unanswerable.empty()) json["unanswerable"] = guarantee.unanswerable;
  json["queries"] = guarantee.queries;
  json["loss"] = guarantee.loss;
  json["nothing"] = guarantee.nothing;
  return json;
}

Json JsonOfBasis(const GuaranteeBasis& basis) {
  return {{"data", basis.data},
          {"split", basis.split},
          {"data_fingerprint", basis.data_fingerprint},
          {"date", basis.date},
          {"documents", basis.documents},
          {"relevance_level", basis.relevance_level},
          {"model_fingerprint", basis.model_fingerprint},
          {"similarity", basis.similarity},
          {"precision", basis.precision},
          {"width", basis.width},
          {"query_prompt", basis.query_prompt},
          {"document_prompt", basis.document_prompt},
          {"max_query_tokens", basis.max_query_tokens},
          {"max_document_tokens", basis.max_document_tokens}};
}

}  // namespace

std::optional<Guarantees> GuaranteesIn(const Settings& tandem_file) {
  if (!tandem_file.Has("guarantees")) return std::nullopt;
  const Settings settings = tandem_file.RequiredObject("guarantees");
  Guarantees guarantees{.basis = ReadBasis(settings.RequiredObject("basis"))};
  constexpr const char* kPromises = "a list of promises, as tandem calibrate --guarantee writes it";
  for (const Json& entry : ListIn(settings, "promises", kPromises)) {
    if (!entry.is_object()) settings.Fail("promises", kPromises);
    const std::string place = fmt::format("guarantees.promises[{}].", guarantees.promises.size());
    const Settings named(settings.file(), entry, place);
    Guarantee guarantee = ReadGuarantee(named);
    for (const Guarantee& other : guarantees.promises) {
      if (other.Name() == guarantee.Name()) named.Fail("promise", "each promise once");
    }
    guarantees.promises.push_back(std::move(guarantee));
  }
  constexpr const char* kScores = "a list of numbers";
  for (const Json& score : ListIn(settings, "best_scores", kScores)) {
    if (!score.is_number() || !(std::abs(score.get<double>()) <= kMostScore)) {
      settings.Fail("best_scores", kScores);
    }
    guarantees.best_scores.push_back(static_cast<float>(score.get<double>()));
  }
  return guarantees;
}

void PutGuarantees(const std::optional<Guarantees>& guarantees, Json* file) {
  file->erase("guarantees");
  if (!guarantees) return;
  Json promises = Json::array(), scores = Json::array();
  for (const Guarantee& one : guarantees->promises) promises.push_back(JsonOfGuarantee(one));
  for (const float score : guarantees->best_scores) {
    scores.push_back(static_cast<double>(score));
  }
  (*file)["guarantees"] = {{"basis", JsonOfBasis(guarantees->basis)},
                           {"promises", std::move(promises)},
                           {"best_scores", std::move(scores)}};
}

}  // namespace tandem::weights
