#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/vocab_file.h"

namespace tandem::text {
namespace {

// FNV-1a with 64 bits.
class FileHash {
 public:
  void Add(std::string_view bytes) {
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// Of the names and bytes of the files that exist, and of the options.
uint64_t FingerprintOf(const std::filesystem::path& folder,
                       std::initializer_list<std::string_view> names,
                       const TokenizerOptions& options) {
  FileHash hash;
  hash.Add(options.lower_case ? "lower" : "as it is");
  for (const std::string_view name : names) {
    if (!std::filesystem::exists(folder / name)) continue;
    hash.Add(name);
    hash.Add(ReadFile(folder / name));
  }
  return hash.value();
}

std::unique_ptr<const Tokenizer> Made(TokenizerStages stages, uint64_t fingerprint) {
  stages.fingerprint = fingerprint;
  return std::make_unique<PipelineTokenizer>(std::move(stages));
}

// Files that other programs read instead: SentencePiece's models, and merges beside a vocab.json.
constexpr std::string_view kOtherFiles[] = {"spiece.model", "sentencepiece.bpe.model",
                                            "tokenizer.model", "spm.model", "merges.txt"};

[[noreturn]] void FailWithoutTokenizer(const std::filesystem::path& folder) {
  for (const std::string_view name : kOtherFiles) {
    if (!std::filesystem::exists(folder / name)) continue;
    throw ModelError(folder.native(), "",
                     fmt::format("holds {0} and no tokenizer.json, which is needed; transformers "
                                 "makes it: AutoTokenizer.from_pretrained(\"{1}\")"
                                 ".save_pretrained(\"{1}\")",
                                 name, folder.native()));
  }
  throw ModelError(
      folder.native(), "",
      std::filesystem::is_directory(folder)
          ? "holds no tokenizer; expected tokenizer.json or vocab.txt"
          : "is not a folder; expected a model folder with tokenizer.json or vocab.txt");
}

}  // namespace

std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& folder,
                                               const TokenizerOptions& options) {
  const std::filesystem::path json = folder / "tokenizer.json";
  if (std::filesystem::exists(json)) {
    return Made(ReadTokenizerJson(ReadFile(json), json.native(), options),
                FingerprintOf(folder, {"tokenizer.json"}, options));
  }
  if (std::filesystem::exists(folder / "vocab.txt")) {
    return Made(
        ReadVocabFile(folder, options),
        FingerprintOf(folder, {"vocab.txt", "tokenizer_config.json", "special_tokens_map.json"},
                      options));
  }
  FailWithoutTokenizer(folder);
}

}  // namespace tandem::text
