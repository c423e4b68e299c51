#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/vocab_file.h"

namespace tandem::text {

std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& folder,
                                               const TokenizerOptions& options) {
  const std::filesystem::path json = folder / "tokenizer.json";
  if (std::filesystem::exists(json)) {
    return std::make_unique<PipelineTokenizer>(
        ReadTokenizerJson(ReadFile(json), json.native(), options));
  }
  if (std::filesystem::exists(folder / "vocab.txt")) {
    return std::make_unique<PipelineTokenizer>(ReadVocabFile(folder, options));
  }
  throw ModelError(
      folder.native(), "",
      std::filesystem::is_directory(folder)
          ? "holds no tokenizer; expected tokenizer.json or vocab.txt"
          : "is not a folder; expected a model folder with tokenizer.json or vocab.txt");
}

}  // namespace tandem::text
