#include "commands/model/model_flags.h"

#include <fmt/format.h>

#include "base/files/cache_folder.h"
#include "cli/flags.h"

namespace tandem::app {

void AddEmbeddingsFlag(Flags& flags, std::string& folder) {
  flags
      .Add("--embeddings", folder,
           "Folder of the corpus's embeddings: parts of `tandem encode --shard`, or one that keeps "
           "what this command encodes, so that nothing is encoded twice")
      .Folder("kept embeddings are several files");
}

void AddPartsFlag(Flags& flags, std::string& folder) {
  flags
      .Add("--embeddings", folder,
           "Folder of the documents' embeddings in parts (`tandem encode --shard`), so that they "
           "are not encoded")
      .Folder("parts are several files");
}

void AddCacheFlag(Flags& flags, bool& no_cache) {
  flags.AddSwitch(
      "--no-cache", no_cache,
      "Neither look for embeddings in the cache nor keep them there (the cache: "
      "$TANDEM_CACHE, else ~/.cache/tandem; of at most $TANDEM_CACHE_BYTES, else 16GiB)");
}

std::filesystem::path CacheUnless(bool no_cache) {
  return no_cache ? std::filesystem::path() : CacheFolder();
}

std::string KeptInCache(bool no_cache) {
  return CacheUnless(no_cache).empty()
             ? ""
             : "; the next call finds the embeddings that were made so far";
}

void AddLengthFlags(Flags& flags, ModelFlags& model) {
  flags.Add("--max-query-tokens", model.max_query_tokens,
            "Cut queries at this many tokens; 0: what the encoder takes (default: the model's)");
  AddDocumentLengthFlags(flags, model);
}

void AddDocumentLengthFlags(Flags& flags, ModelFlags& model) {
  flags.Add("--max-document-tokens", model.max_document_tokens,
            "Cut documents at this many tokens; 0: what the encoder takes (default: the model's)");
  flags
      .Add("--dimensions", model.dimensions,
           "Cut embeddings to this many leading numbers, for models trained so (Matryoshka); 0: "
           "whole embeddings (default: the model's truncate_dim)")
      .Between(0, 65536);
}

void AddPromptFlag(Flags& flags, ModelFlags& model, std::string_view texts) {
  flags.Add("--prompt", model.prompt,
            fmt::format("What is put before {}: the name of one of the model's prompts (tandem "
                        "inspect shows them), or a text, in which \\n is a line break",
                        texts));
}

}  // namespace tandem::app
