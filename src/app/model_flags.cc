#include "app/model_flags.h"

#include "app/flags.h"

namespace tandem::app {

void AddEmbeddingsFlag(Flags& flags, std::string& folder) {
  flags
      .Add("--embeddings", folder,
           "Folder that keeps the corpus's embeddings, so that nothing is encoded twice")
      .Folder("kept embeddings are several files");
}

void AddLengthFlags(Flags& flags, ModelFlags& model) {
  flags.Add("--max-query-tokens", model.max_query_tokens,
            "Cut queries at this many tokens; 0: what the encoder takes (default: the model's)");
  flags.Add("--max-document-tokens", model.max_document_tokens,
            "Cut documents at this many tokens; 0: what the encoder takes (default: the model's)");
}

}  // namespace tandem::app
