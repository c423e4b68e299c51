#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/vocab_file.h"

namespace tandem::text {

std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& model_folder) {
  const std::filesystem::path json = model_folder / "tokenizer.json";
  if (std::filesystem::exists(json)) {
    return std::make_unique<PipelineTokenizer>(ReadTokenizerJson(ReadFile(json), json.native()));
  }
  if (std::filesystem::exists(model_folder / "vocab.txt")) {
    return std::make_unique<PipelineTokenizer>(ReadVocabFile(model_folder));
  }
  throw ModelError(
      model_folder.native(), "",
      std::filesystem::is_directory(model_folder)
          ? "holds no tokenizer; expected tokenizer.json or vocab.txt"
          : "is not a folder; expected a model folder with tokenizer.json or vocab.txt");
}

}  // namespace tandem::text
