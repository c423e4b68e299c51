// Embeddings, as OpenAI's clients ask for them and read them.
#include <fmt/format.h>

#include <string>

#include "serve/bodies/embeddings.h"
#include "serve/bodies/json_writer.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

class OpenAiEmbeddings final : public EmbeddingsRequest {
 public:
  OpenAiEmbeddings() : EmbeddingsRequest({.texts = "input", .openai = true}) {}

  std::string Answer(const AnswerInput& input) const override {
    const EncodedRows& encoded = input.encoded;
    std::string out = "{\"object\":\"list\",\"data\":[";
    for (size_t i = 0; i < encoded.size(); ++i) {
      if (i > 0) out += ',';
      out += "{\"object\":\"embedding\",\"index\":";
      AppendJsonInteger(&out, i);
      out += ",\"embedding\":";
      AppendEmbedding(&out, encoded[i]);
      out += '}';
    }
    out += "],\"model\":";
    AppendJsonText(&out, input.backend.info().model);
    out += fmt::format(
        ",\"usage\":{{\"prompt_tokens\":{0},\"total_tokens\":{0},\"truncated_texts\":{1}}}}}\n",
        encoded.tokens, encoded.truncated);
    return out;
  }
};

constexpr std::string_view kOpenAiEmbeddingsRequest =
    R"json({"type":"object","required":["input"],"properties":{
  "input":{"description":"Texts; token ids are refused.","oneOf":[{"type":"string"},
    {"type":"array","items":{"type":"string"},"minItems":1}]},
  "model":{"type":"string","description":"The name in /v1/models, or nothing."},
  "encoding_format":{"type":"string","enum":["float","base64"],"default":"float"},
  "dimensions":{"type":"integer","minimum":1,
    "description":"Cuts embeddings to so many leading numbers; those of length 1 get it again."},
  "input_type":{"type":"string","enum":["query","document"],"default":"document"},
  "user":{"type":"string","description":"Passed over."}}})json";

constexpr std::string_view kOpenAiEmbeddingsResponse = R"json({"type":"object","properties":{
  "object":{"type":"string","enum":["list"]},
  "data":{"type":"array","items":{"type":"object","properties":{
    "object":{"type":"string","enum":["embedding"]},"index":{"type":"integer"},
    "embedding":{"oneOf":[{"type":"array","items":{"type":"number"}},
      {"type":"string","description":"Base64 of little-endian float32."}]}}}},
  "model":{"type":"string"},
  "usage":{"type":"object","properties":{"prompt_tokens":{"type":"integer"},
    "total_tokens":{"type":"integer"},"truncated_texts":{"type":"integer"}}}}})json";

}  // namespace

extern const Route kOpenAiEmbeddingsRoute{.path = "/v1/embeddings",
                                          .summary = "Embeddings, as OpenAI's clients ask",
                                          .request = kOpenAiEmbeddingsRequest,
                                          .response = kOpenAiEmbeddingsResponse,
                                          .post = MakeRequest<OpenAiEmbeddings>};

}  // namespace tandem::serve
