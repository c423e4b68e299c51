// What scores depend on besides the model's weights and similarity: for what keeps thresholds, and
// is used with the model later.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace tandem::app {

// "precision 'fp32', now 'int8'", added where the two differ.
template <typename Value>
void AddDifference(std::string_view what, const Value& was, const Value& is,
                   std::vector<std::string>* differences) {
  if (was != is) differences->push_back(fmt::format("{} '{}', now '{}'", what, was, is));
}

// Adds how prompts and lengths were and are. `Settings` has query_prompt, document_prompt,
// max_query_tokens and max_document_tokens.
template <typename Settings>
void AddTextDifferences(const Settings& was, const Settings& is,
                        std::vector<std::string>* differences) {
  AddDifference("query prompt", was.query_prompt, is.query_prompt, differences);
  AddDifference("document prompt", was.document_prompt, is.document_prompt, differences);
  AddDifference("tokens of a query", was.max_query_tokens, is.max_query_tokens, differences);
  AddDifference("tokens of a document", was.max_document_tokens, is.max_document_tokens,
                differences);
}

}  // namespace tandem::app
