#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/running_hash.h"
#include "text/load/known_files.h"
#include "text/load/tokenizer_json.h"
#include "text/load/vocab_file.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

// Of the options and of the names and bytes of files.
class SettingsHash {
 public:
  explicit SettingsHash(const TokenizerOptions& options) {
    hash_.Add(options.lower_case ? "lower" : "as it is");
  }
  void Add(std::string_view name, std::string_view bytes) {
    hash_.Add(name);
    hash_.Add(bytes);
  }
  uint64_t value() const { return hash_.value(); }

 private:
  RunningHash hash_;
};

std::unique_ptr<const Tokenizer> Made(TokenizerStages stages, SettingsHash hash) {
  if (!stages.settings.empty()) hash.Add("settings", stages.settings);
  stages.fingerprint = hash.value();
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
  return LoadTokenizer(folder, options, {});
}

std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& folder,
                                               const TokenizerOptions& options,
                                               const KnownFiles& known) {
  SettingsHash hash(options);
  const std::filesystem::path json = folder / "tokenizer.json";
  const bool has_json = std::filesystem::exists(json);
  const std::filesystem::path own = has_json ? json : folder / "vocab.txt";
  if (!std::filesystem::exists(own)) FailWithoutTokenizer(folder);
  const std::string bytes = ReadFile(own);
  hash.Add(own.filename().native(), bytes);
  TokenizerArguments arguments(folder, known);
  ChosenClass chosen =
      ChooseClass(folder, arguments, bytes.find("\"ByteLevel\"") != bytes.npos, known);
  FolderClass of = {.chosen = std::move(chosen),
                    .arguments = std::move(arguments),
                    .of_model = std::filesystem::exists(folder / "config.json")};
  if (has_json) return Made(ReadTokenizerJson(bytes, own.native(), options, &of), hash);
  return Made(ReadVocabFile(bytes, own.native(), options, &of), hash);
}

}  // namespace tandem::text
