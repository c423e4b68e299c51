// Embeddings, as an array of rows.
#include <string>

#include "serve/bodies/embeddings.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

class Embed final : public EmbeddingsRequest {
 public:
  Embed() : EmbeddingsRequest({.texts = "texts"}) {}

  std::string Answer(const AnswerInput& input) const override {
    std::string out = "{\"embeddings\":[";
    for (size_t i = 0; i < input.encoded.size(); ++i) {
      if (i > 0) out += ',';
      AppendEmbedding(&out, input.encoded[i]);
    }
    out += ']';
    AppendCounts(&out, input.encoded);
    return out += "}\n";
  }
};

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

}  // namespace

extern const Route kEmbedRoute{.path = "/embed",
                               .summary = "Embeddings",
                               .request = kEmbedRequest,
                               .response = kEmbedResponse,
                               .post = MakeRequest<Embed>};

}  // namespace tandem::serve
