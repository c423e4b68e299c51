#include "weights/folders/model_card.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/json/json.h"

namespace tandem::weights {
namespace {

// The last part of a path. A card is published: it must not tell where somebody's files are.
std::string BaseName(const std::string& base_model) {
  std::filesystem::path path = std::filesystem::path(base_model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().native();
}

// A JSON string is a YAML string.
std::string Quoted(const std::string& text) { return Json(text).Dump(-1, JsonBytes::kReplace); }

// Keeps a value inside its table cell.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' || c == '\r' ? ' ' : c;
  }
  return cell;
}

std::string FrontMatter(const ModelCard& card, const CardSettings& settings) {
  std::string text = "---\nlibrary_name: sentence-transformers\n";
  text += "pipeline_tag: sentence-similarity\n";
  if (!settings.license.empty()) text += fmt::format("license: {}\n", Quoted(settings.license));
  if (!card.base_model.empty()) {
    text += fmt::format("base_model: {}\n", Quoted(BaseName(card.base_model)));
  }
  return text +
         "tags:\n- sentence-transformers\n- sentence-similarity\n- feature-extraction\n"
         "- tandem\n---\n\n";
}

// "Maps ... to": an encoder of two gets the texts of its own kind only.
std::string WhatItMaps(const ModelCard& card, const CardSettings& settings) {
  const auto texts = [](std::string_view kind, size_t tokens) {
    return fmt::format("{} of up to {} tokens", kind, tokens);
  };
  const std::string queries = texts("queries", settings.max_query_tokens);
  const std::string documents = texts("documents", settings.max_document_tokens);
  if (card.tower == "query") return queries;
  return card.tower == "document" ? documents : fmt::format("{} and {}", queries, documents);
}

std::string Description(const ModelCard& card, const CardSettings& settings) {
  std::string text = card.base_model.empty() ? "# Text embedding model\n\n"
                                             : fmt::format("# Text embedding model from {}\n\n",
                                                           Cell(BaseName(card.base_model)));
  text += fmt::format(
      "Maps {} to {} numbers, with {} pooling; texts are compared by {}{}. Longer texts are cut.\n",
      WhatItMaps(card, settings), settings.embedding_width, settings.pooling,
      settings.similarity == "dot" ? "dot product" : "cosine",
      settings.prompts ? ", each behind its prompt (`config_sentence_transformers.json`)" : "");
  return text;
}

std::string Training(const ModelCard& card) {
  if (card.objective.empty() && card.steps == 0 && card.facts.empty()) return "";
  std::string text = "\n## Training\n\n| | |\n|---|---|\n";
  if (!card.tower.empty()) text += fmt::format("| encodes | {} texts |\n", Cell(card.tower));
  if (!card.objective.empty()) text += fmt::format("| objective | {} |\n", Cell(card.objective));
  if (card.steps > 0) text += fmt::format("| steps | {} |\n", card.steps);
  if (card.stopped) {
    text += fmt::format("| stopped | {}; the run is not finished |\n", StoppedText(*card.stopped));
  }
  for (const auto& [name, value] : card.facts) {
    text += fmt::format("| {} | {} |\n", Cell(name), Cell(value));
  }
  return text;
}

std::string Measures(const ModelCard& card) {
  if (card.measures.empty()) return "";
  std::string text = "\n## Measures\n\n";
  if (!card.measured_on.empty()) text += fmt::format("On {}.\n\n", Cell(card.measured_on));
  text += "| measure | base model | this model |\n|---|---|---|\n";
  for (const MeasureFact& measure : card.measures) {
    text +=
        fmt::format("| {} | {} | {:.4f} |\n", Cell(measure.name),
                    measure.before ? fmt::format("{:.4f}", *measure.before) : "", measure.after);
  }
  return text;
}

constexpr const char* kUsage = R"(
## Use

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("path/to/this/folder")
queries = model.encode_query(["a question"])
documents = model.encode_document(["a text", "another text"])
print(model.similarity(queries, documents))
```

Written by Tandem.
)";

constexpr const char* kUsageOfTowers = R"(
## Use

Queries and documents have an encoder each, in the folders `query` and `document`. Their folder loads
as one model:

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("path/to/the/folder/of/both")
queries = model.encode_query(["a question"])
documents = model.encode_document(["a text", "another text"])
print(model.similarity(queries, documents))
```

Written by Tandem.
)";

}  // namespace

std::string StoppedText(const StoppedRun& stopped) {
  return stopped.steps > 0 ? fmt::format("at step {} of {}", stopped.step, stopped.steps)
                           : fmt::format("at step {}", stopped.step);
}

std::string ModelCardText(const ModelCard& card, const CardSettings& settings) {
  return FrontMatter(card, settings) + Description(card, settings) + Training(card) +
         Measures(card) + (card.tower.empty() ? kUsage : kUsageOfTowers);
}

}  // namespace tandem::weights
