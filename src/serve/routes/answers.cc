#include "serve/routes/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "serve/routes/api_error.h"
#include "serve/routes/json_writer.h"

namespace tandem::serve {
namespace {

// Rows of models that end in Normalize are this near to length 1 in bf16, too.
constexpr double kUnitLength = 0.01;
// Of an answer with embeddings, about: what stands around a row, and one number.
constexpr size_t kRowFrameBytes = 64;
constexpr size_t kBase64Bytes = 6;
constexpr size_t kNumberBytes = 14;  // "-0.0123456789,"

std::span<const float> Row(const EncodedRows& encoded, size_t index) {
  return encoded.rows.subspan(index * encoded.width, encoded.width);
}

double Length(std::span<const float> row) {
  double sum = 0;
  for (const float value : row) sum += double{value} * value;
  return std::sqrt(sum);
}

void AppendRow(std::string* out, const EmbeddingRequest& request, std::span<const float> row) {
  std::vector<float> cut;
  if (request.dimensions != 0 && request.dimensions < row.size()) {
    cut = CutRow(row, request.dimensions);
    row = cut;
  }
  if (request.base64) {
    AppendBase64Floats(out, row);
  } else {
    AppendJsonFloats(out, row);
  }
}

void AppendCounts(std::string* out, const EncodedRows& encoded) {
  *out += ",\"tokens\":";
  AppendJsonInteger(out, encoded.tokens);
  *out += ",\"truncated_texts\":";
  AppendJsonInteger(out, encoded.truncated);
}

double Score(std::span<const float> query, std::span<const float> document, bool cosine) {
  double sum = 0;
  for (size_t i = 0; i < query.size(); ++i) sum += double{query[i]} * document[i];
  if (!cosine) return sum;
  const double lengths = Length(query) * Length(document);
  return lengths > 0 ? sum / lengths : 0;
}

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

void AppendResults(std::string* out, const SearchRequest& request,
                   const std::vector<Found>& results, size_t most_bytes) {
  *out += '[';
  for (const Found& found : results) {
    if (out->size() + (request.texts ? found.text.size() : 0) > most_bytes) {
      throw ApiError(
          400, "answer_too_long",
          fmt::format("the answer would be longer than {} bytes; ask for fewer documents "
                      "or queries, or with \"texts\": false",
                      most_bytes));
    }
    if (&found != results.data()) *out += ',';
    *out += "{\"id\":";
    AppendJsonText(out, found.id);
    *out += ",\"score\":";
    AppendJsonFloat(out, found.score);
    *out += ",\"probability\":";
    AppendJsonNumber(out, found.probability.value_or(std::nan("")));
    if (request.texts) {
      *out += ",\"text\":";
      AppendJsonText(out, found.text);
      AppendHighlight(out, found);
    }
    *out += '}';
  }
  *out += ']';
}

}  // namespace

std::vector<float> CutRow(std::span<const float> row, size_t dimensions) {
  std::vector<float> cut(row.begin(), row.end());
  if (dimensions == 0 || dimensions >= row.size()) return cut;
  const bool unit = std::abs(Length(row) - 1) < kUnitLength;
  cut.resize(dimensions);
  const double length = Length(cut);
  if (unit && length > 0) {
    for (float& value : cut) value = static_cast<float>(value / length);
  }
  return cut;
}

size_t EmbeddingAnswerBytes(const EmbeddingRequest& request, size_t texts, size_t width) {
  const size_t numbers = request.dimensions > 0 ? std::min(request.dimensions, width) : width;
  return texts * (kRowFrameBytes + numbers * (request.base64 ? kBase64Bytes : kNumberBytes));
}

std::string OpenAiEmbeddingsAnswer(const EmbeddingRequest& request, const EncodedRows& encoded,
                                   const std::string& model) {
  std::string out = "{\"object\":\"list\",\"data\":[";
  for (size_t i = 0; i < encoded.rows.size() / encoded.width; ++i) {
    if (i > 0) out += ',';
    out += "{\"object\":\"embedding\",\"index\":";
    AppendJsonInteger(&out, i);
    out += ",\"embedding\":";
    AppendRow(&out, request, Row(encoded, i));
    out += '}';
  }
  out += "],\"model\":";
  AppendJsonText(&out, model);
  out += fmt::format(
      ",\"usage\":{{\"prompt_tokens\":{0},\"total_tokens\":{0},\"truncated_texts\":{1}}}}}\n",
      encoded.tokens, encoded.truncated);
  return out;
}

std::string EmbedAnswer(const EmbeddingRequest& request, const EncodedRows& encoded) {
  std::string out = "{\"embeddings\":[";
  for (size_t i = 0; i < encoded.rows.size() / encoded.width; ++i) {
    if (i > 0) out += ',';
    AppendRow(&out, request, Row(encoded, i));
  }
  out += ']';
  AppendCounts(&out, encoded);
  return out += "}\n";
}

std::string SimilarityAnswer(const SimilarityRequest& request, const EncodedRows& encoded,
                             const Backend& backend) {
  const bool cosine = backend.info().similarity == "cosine";
  std::string scores, probabilities;
  for (const auto& [query, document] : request.pairs) {
    const auto score = static_cast<float>(
        Score(Row(encoded, query), Row(encoded, request.queries.size() + document), cosine));
    if (!scores.empty()) scores += ',';
    AppendJsonFloat(&scores, score);
    if (const std::optional<double> probability = backend.Probability(score)) {
      if (!probabilities.empty()) probabilities += ',';
      AppendJsonNumber(&probabilities, *probability);
    }
  }
  std::string out = fmt::format("{{\"scores\":[{}]", scores);
  if (backend.info().calibrated) out += fmt::format(",\"probabilities\":[{}]", probabilities);
  out += fmt::format(",\"similarity\":\"{}\"", backend.info().similarity);
  AppendCounts(&out, encoded);
  return out += "}\n";
}

std::string SearchAnswer(const SearchRequest& request,
                         const std::vector<std::vector<Found>>& results, const EncodedRows& encoded,
                         double milliseconds, size_t most_bytes) {
  std::string out = "{\"results\":";
  if (!request.single) out += '[';
  for (const std::vector<Found>& found : results) {
    if (&found != results.data()) out += ',';
    AppendResults(&out, request, found, most_bytes);
  }
  if (!request.single) out += ']';
  AppendCounts(&out, encoded);
  out += fmt::format(",\"milliseconds\":{:.3f}}}\n", milliseconds);
  return out;
}

std::string ModelsAnswer(const BackendInfo& info) {
  std::string out = "{\"object\":\"list\",\"data\":[{\"id\":";
  AppendJsonText(&out, info.model);
  return out += ",\"object\":\"model\",\"created\":0,\"owned_by\":\"tandem\"}]}\n";
}

std::string InfoAnswer(const BackendInfo& info, const RequestLimits& limits) {
  std::string out = "{\"model\":{\"name\":";
  AppendJsonText(&out, info.model);
  out += fmt::format(
      ",\"dimensions\":{},\"similarity\":\"{}\",\"precision\":\"{}\",\"max_query_tokens\":{},"
      "\"max_document_tokens\":{},\"calibrated\":{}}},\"index\":",
      info.width, info.similarity, info.precision, info.max_query_tokens, info.max_document_tokens,
      info.calibrated);
  if (info.index) {
    out += "{\"kind\":";
    AppendJsonText(&out, info.index->kind);
    out += fmt::format(",\"documents\":{},\"texts\":{},\"fields\":[", info.index->documents,
                       info.index->texts);
    for (size_t i = 0; i < info.index->fields.size(); ++i) {
      if (i > 0) out += ',';
      out += "{\"name\":";
      AppendJsonText(&out, info.index->fields[i].name);
      out += fmt::format(",\"type\":\"{}\"}}", info.index->fields[i].type);
    }
    out += "]}";
  } else {
    out += "null";
  }
  out += fmt::format(",\"limits\":{{\"texts\":{},\"queries\":{},\"k\":{}}},\"version\":\"{}\"}}\n",
                     limits.texts, limits.queries, limits.k, TANDEM_VERSION);
  return out;
}

}  // namespace tandem::serve
