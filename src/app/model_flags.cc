#include "app/model_flags.h"

#include "app/flags.h"

namespace tandem::app {

void AddLengthFlags(Flags& flags, ModelFlags& model) {
  flags.Add("--max-query-tokens", model.max_query_tokens,
            "Cut queries at this many tokens; 0: what the encoder takes (default: the model's)");
  flags.Add("--max-document-tokens", model.max_document_tokens,
            "Cut documents at this many tokens; 0: what the encoder takes (default: the model's)");
}

}  // namespace tandem::app
