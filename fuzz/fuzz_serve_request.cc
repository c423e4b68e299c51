// Bodies of requests to the server: any bytes are a request or an error of the client's.
#include <cstddef>
#include <cstdint>
#include <string>

#include "serve/routes/api_error.h"
#include "serve/routes/json_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem::serve;
  if (size == 0) return 0;
  std::string body(reinterpret_cast<const char*>(data + 1), size - 1);
  const RequestLimits limits{.texts = 8, .queries = 4, .k = 10};
  try {
    switch (data[0] % 4) {
      case 0:
        ParseOpenAiEmbeddings(&body, limits);
        break;
      case 1:
        ParseEmbed(&body, limits);
        break;
      case 2: {
        const SimilarityRequest request = ParseSimilarity(&body, limits);
        for (const auto& [query, document] : request.pairs) {
          if (query >= request.queries.size() || document >= request.documents.size())
            __builtin_trap();
        }
        break;
      }
      default:
        if (ParseSearch(&body, limits).queries.empty()) __builtin_trap();
    }
  } catch (const ApiError&) {
  }
  return 0;
}
