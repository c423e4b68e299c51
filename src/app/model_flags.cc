#include "app/model_flags.h"

#include <CLI/CLI.hpp>

namespace tandem::app {

void AddLengthFlags(CLI::App& app, ModelFlags& flags) {
  app.add_option(
      "--max-query-tokens", flags.max_query_tokens,
      "Cut queries at this many tokens; 0: what the encoder takes (default: the model's)");
  app.add_option(
      "--max-document-tokens", flags.max_document_tokens,
      "Cut documents at this many tokens; 0: what the encoder takes (default: the model's)");
}

}  // namespace tandem::app
