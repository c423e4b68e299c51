#include "serve/routes/routes.h"

namespace tandem::serve {
namespace {

constexpr std::string_view kOpenAiRequest =
    R"json({"type":"object","required":["input"],"properties":{
  "input":{"description":"Texts; token ids are refused.","oneOf":[{"type":"string"},
    {"type":"array","items":{"type":"string"},"minItems":1}]},
  "model":{"type":"string","description":"The name in /v1/models, or nothing."},
  "encoding_format":{"type":"string","enum":["float","base64"],"default":"float"},
  "dimensions":{"type":"integer","minimum":1,
    "description":"Cuts embeddings to so many leading numbers; those of length 1 get it again."},
  "input_type":{"type":"string","enum":["query","document"],"default":"document"},
  "user":{"type":"string","description":"Passed over."}}})json";

constexpr std::string_view kOpenAiResponse = R"json({"type":"object","properties":{
  "object":{"type":"string","enum":["list"]},
  "data":{"type":"array","items":{"type":"object","properties":{
    "object":{"type":"string","enum":["embedding"]},"index":{"type":"integer"},
    "embedding":{"oneOf":[{"type":"array","items":{"type":"number"}},
      {"type":"string","description":"Base64 of little-endian float32."}]}}}},
  "model":{"type":"string"},
  "usage":{"type":"object","properties":{"prompt_tokens":{"type":"integer"},
    "total_tokens":{"type":"integer"},"truncated_texts":{"type":"integer"}}}}})json";

constexpr std::string_view kEmbedRequest = R"json({"type":"object","required":["texts"],
  "additionalProperties":false,"properties":{
  "texts":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"minItems":1}]},
  "input_type":{"type":"string","enum":["query","document"],"default":"document"},
  "encoding_format":{"type":"string","enum":["float","base64"],"default":"float"},
  "dimensions":{"type":"integer","minimum":1},"model":{"type":"string"}}})json";

constexpr std::string_view kEmbedResponse = R"json({"type":"object","properties":{
  "embeddings":{"type":"array","items":{"oneOf":[{"type":"array","items":{"type":"number"}},
    {"type":"string"}]}},
  "tokens":{"type":"integer"},"truncated_texts":{"type":"integer"}}})json";

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

constexpr std::string_view kSearchRequest = R"json({"type":"object","additionalProperties":false,
  "description":"Give query or queries.","properties":{
  "query":{"type":"string"},
  "queries":{"type":"array","items":{"type":"string"},"minItems":1},
  "k":{"type":"integer","minimum":1,"default":10},
  "min_score":{"type":"number"},
  "min_probability":{"type":"number","minimum":0,"maximum":1},
  "filter":{"type":"object","description":
    "By metadata: {\"lang\": \"en\", \"year\": {\">=\": 2020, \"<\": 2030}}"},
  "texts":{"type":"boolean","default":true},
  "highlight":{"type":"boolean","default":true}}})json";

constexpr std::string_view kSearchResponse = R"json({"type":"object","properties":{
  "results":{"type":"array","description":
    "Best first. With queries an array of such arrays, one for each query.",
    "items":{"type":"object","properties":{
    "id":{"type":"string"},"score":{"type":"number"},
    "probability":{"type":["number","null"],"description":"null unless the model is calibrated."},
    "text":{"type":"string"},
    "highlight":{"type":["object","null"],"description":"The passage that answers best.",
      "properties":{"start":{"type":"integer"},"end":{"type":"integer"},
        "text":{"type":"string"}}}}}},
  "tokens":{"type":"integer"},"truncated_texts":{"type":"integer"},
  "milliseconds":{"type":"number","description":"From the request to its answer."}}})json";

constexpr std::string_view kObject = R"({"type":"object"})";

constexpr Route kRoutes[] = {
    {RouteName::kPage, "/", Method::kGet, true, "The search page", "", ""},
    {RouteName::kPageStyle, "/page.css", Method::kGet, true, "The search page's style", "", ""},
    {RouteName::kPageScript, "/page.js", Method::kGet, true, "The search page's script", "", ""},
    {RouteName::kHealth, "/health", Method::kGet, true, "200 while the server takes requests", "",
     kObject},
    {RouteName::kMetrics, "/metrics", Method::kGet, false, "Counts for Prometheus", "", ""},
    {RouteName::kOpenApi, "/openapi.json", Method::kGet, true, "This description", "", kObject},
    {RouteName::kInfo, "/info", Method::kGet, false, "The model, the index and the limits", "",
     kObject},
    {RouteName::kModels, "/v1/models", Method::kGet, false, "The model, as OpenAI's clients ask",
     "", kObject},
    {RouteName::kOpenAiEmbeddings, "/v1/embeddings", Method::kPost, false,
     "Embeddings, as OpenAI's clients ask", kOpenAiRequest, kOpenAiResponse},
    {RouteName::kEmbed, "/embed", Method::kPost, false, "Embeddings", kEmbedRequest,
     kEmbedResponse},
    {RouteName::kSimilarity, "/similarity", Method::kPost, false,
     "Scores of a query with documents, or of pairs", kSimilarityRequest, kSimilarityResponse},
    {RouteName::kSearch, "/search", Method::kPost, false, "The best documents of the index",
     kSearchRequest, kSearchResponse}};

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

const Route* FindRoute(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

std::string_view AllowedMethods(const Route& route) {
  return route.method == Method::kGet ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}

}  // namespace tandem::serve
