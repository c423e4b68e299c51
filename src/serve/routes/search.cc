// The best documents of the index for one query or several, with the passage that answers best.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/bodies/json_request.h"
#include "serve/bodies/json_writer.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

// UTF-8 characters, which clients count in.
size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void AppendHighlight(std::string* out, const Found& found) {
  *out += ",\"highlight\":";
  if (!found.highlight) {
    *out += "null";
    return;
  }
  const auto [begin, end] = *found.highlight;
  const size_t start = Characters(found.text.substr(0, begin));
  const std::string_view passage = found.text.substr(begin, end - begin);
  *out += fmt::format("{{\"start\":{},\"end\":{},\"text\":", start, start + Characters(passage));
  AppendJsonText(out, passage);
  *out += '}';
}

// Throws ApiError for an answer of more than `most_bytes`.
void AppendResults(std::string* out, const std::vector<Found>& results, bool texts,
                   size_t most_bytes) {
  *out += '[';
  for (const Found& found : results) {
    if (out->size() + (texts ? found.text.size() : 0) > most_bytes) {
      throw ApiError(
          400, "answer_too_long",
          fmt::format("the answer would be longer than {} bytes; ask for fewer documents "
                      "or queries, or with \"texts\": false",
                      most_bytes));
    }
    if (&found != results.data()) *out += ',';
    *out += "{\"id\":";
    AppendJsonText(out, found.id);
    if (!found.passage.empty()) {
      *out += ",\"passage\":";
      AppendJsonText(out, found.passage);
    }
    *out += ",\"score\":";
    AppendJsonFloat(out, found.score);
    *out += ",\"probability\":";
    AppendJsonNumber(out, found.probability.value_or(std::nan("")));
    if (texts) {
      *out += ",\"text\":";
      AppendJsonText(out, found.text);
      if (!found.title.empty()) {
        *out += ",\"title\":";
        AppendJsonText(out, found.title);
      }
      AppendHighlight(out, found);
    }
    *out += '}';
  }
  *out += ']';
}

// What may keep a promise from holding of this answer.
struct KeptDoubts {
  size_t cut = 0;  // queries
  bool filtered = false;
  bool other_queries = false;
};

void AppendKept(std::string* out, const KeptPromise& kept, const KeptDoubts& doubts) {
  *out += ",\"keep\":{\"promise\":";
  AppendJsonText(out, kept.name);
  *out += ",\"sentence\":";
  AppendJsonText(out, kept.sentence);
  *out += ",\"threshold\":";
  AppendJsonNumber(out, kept.threshold);
  *out += fmt::format(",\"cut\":{},\"filtered\":{},\"other_queries\":{}}}", doubts.cut,
                      doubts.filtered, doubts.other_queries);
}

class Search final : public PostedRequest {
 public:
  void Parse(std::string* body, const Backend& backend, const RequestLimits& limits,
             RequestTexts* texts) override {
    if (!backend.info().index) {
      throw ApiError(404, "no_index",
                     "this server has a model and no index; start it as tandem serve INDEX");
    }
    options_.by_document = backend.info().index->by_document;
    std::optional<std::string> query;
    std::vector<std::string> queries;
    size_t k = 0;  // not given
    ReadMembers(
        body,
        {StringMember("query", &query), StringsMember("queries", limits.queries, &queries),
         IntegerMember("k", {1, limits.k}, &k), StringMember("keep", &options_.keep),
         BooleanMember("watch", &options_.watch), NumberMember("min_score", &options_.min_score),
         ProbabilityMember("min_probability", &options_.min_probability),
         ObjectMember("filter", &options_.filter), BooleanMember("texts", &texts_),
         BooleanMember("highlight", &options_.highlight),
         BooleanMember("by_document", &options_.by_document)},
        OtherMembers::kRefused);
    if (query.has_value() == !queries.empty()) {
      throw MissingMember("give `query`, a string, or `queries`, an array of strings");
    }
    single_ = query.has_value();
    options_.highlight = options_.highlight && texts_ && !options_.by_document;
    kept_ = backend.Kept(options_);
    if (k > 0) {
      options_.k = k;
    } else if (kept_) {
      options_.k = kept_->depth > 0 ? std::min(kept_->depth, limits.k) : limits.k;
    }
    backend.CheckSearch(options_);
    texts->Add(single_ ? std::vector{*std::move(query)} : std::move(queries), TextKind::kQuery);
  }

  std::string Answer(const AnswerInput& input) const override {
    const std::vector<std::vector<Found>> results = input.backend.Search(
        input.encoded.rows.data(), input.encoded.size(), options_, input.embed);
    const double milliseconds = input.milliseconds();
    std::string out = "{\"results\":";
    if (!single_) out += '[';
    for (const std::vector<Found>& found : results) {
      if (&found != results.data()) out += ',';
      AppendResults(&out, found, texts_, input.limits.answer_bytes);
    }
    if (!single_) out += ']';
    if (kept_) AppendKept(&out, *kept_, DoubtsOf(results, input.backend.watched()));
    AppendCounts(&out, input.encoded);
    out += fmt::format(",\"milliseconds\":{:.3f}}}\n", milliseconds);
    return out;
  }

 private:
  KeptDoubts DoubtsOf(const std::vector<std::vector<Found>>& results,
                      const std::optional<QueryWatch>& watch) const {
    return {.cut = CutOf(results),
            .filtered = !options_.filter.empty(),
            .other_queries = watch && watch->alarm};
  }

  // Queries of which the promise does not speak, because there may be more results, or fewer were
  // asked for than it was made for.
  size_t CutOf(const std::vector<std::vector<Found>>& results) const {
    if (kept_->depth > 0) return options_.k == kept_->depth ? 0 : results.size();
    return static_cast<size_t>(std::count_if(
        results.begin(), results.end(),
        [this](const std::vector<Found>& found) { return found.size() >= options_.k; }));
  }

  std::optional<KeptPromise> kept_;
  bool single_ = false;  // `query`, not `queries`: results are not one level deeper
  bool texts_ = true;
  SearchOptions options_;
};

constexpr std::string_view kSearchRequest = R"json({"type":"object","additionalProperties":false,
  "description":"Give query or queries.","properties":{
  "query":{"type":"string"},
  "queries":{"type":"array","items":{"type":"string"},"minItems":1},
  "k":{"type":"integer","minimum":1,"default":10},
  "min_score":{"type":"number"},
  "min_probability":{"type":"number","minimum":0,"maximum":1},
  "keep":{"type":"string","description":
    "A promise of /info's promises, as recall=0.9: results score at least its threshold. Excludes min_score, min_probability and by_document; k is then what the promise was made for. An empty text: none. Default: what the server was started with."},
  "watch":{"type":"boolean","default":true,"description":
    "Whether the queries count where the server compares queries with those that promises were made for."},
  "filter":{"type":"object","description":
    "By metadata: {\"lang\": \"en\", \"year\": {\">=\": 2020, \"<\": 2030}}"},
  "texts":{"type":"boolean","default":true},
  "highlight":{"type":"boolean","default":true},
  "by_document":{"type":"boolean","description":
    "Documents by the best of their passages, which the index holds as DOCUMENT#N. Default: what the server was started with."}}})json";

constexpr std::string_view kSearchResponse = R"json({"type":"object","properties":{
  "results":{"type":"array","description":
    "Best first. With queries an array of such arrays, one for each query.",
    "items":{"type":"object","properties":{
    "id":{"type":"string"},
    "passage":{"type":"string","description":"By document: the id of its best passage, whose text this is."},
    "score":{"type":"number"},
    "probability":{"type":["number","null"],"description":"null unless the model is calibrated."},
    "text":{"type":"string"},
    "title":{"type":"string","description":"What the text begins with, where it has a title."},
    "highlight":{"type":["object","null"],"description":"The passage that answers best; null by document.",
      "properties":{"start":{"type":"integer"},"end":{"type":"integer"},
        "text":{"type":"string"}}}}}},
  "keep":{"type":"object","description":"The promise that is kept; only where one is.","properties":{
    "promise":{"type":"string"},"sentence":{"type":"string"},"threshold":{"type":"number"},
    "cut":{"type":"integer","description":"Queries of which nothing is promised, because k cuts their results."},
    "filtered":{"type":"boolean","description":"The search had a filter, and nothing is promised of it."},
    "other_queries":{"type":"boolean","description":"The server has seen other queries than the promise was made for."}}},
  "tokens":{"type":"integer"},"truncated_texts":{"type":"integer"},
  "milliseconds":{"type":"number","description":"From the request to its answer."}}})json";

}  // namespace

extern const Route kSearchRoute{.path = "/search",
                                .summary = "The best documents of the index",
                                .searches = true,
                                .request = kSearchRequest,
                                .response = kSearchResponse,
                                .post = MakeRequest<Search>};

}  // namespace tandem::serve
