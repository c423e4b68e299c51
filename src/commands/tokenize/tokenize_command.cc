// `tandem tokenize`: reads lines of text and writes lines of token ids.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process/threads.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "cli/line_blocks.h"
#include "text/load/known_files.h"
#include "weights/folders/tower_folders.h"
#include "weights/settings/tokenizer_settings.h"

namespace tandem::app {
namespace {

constexpr size_t kBlockBytes = size_t{8} << 20;  // some milliseconds of work for each thread
constexpr size_t kLinesPerTask = 64;

struct TokenizeOptions {
  Globals globals;
  std::string model;
  std::string kind;                  // "query", "document"; empty: texts without a prompt
  std::optional<size_t> max_length;  // none: the model's
};

// The settings by which a text is tokenised.
struct Rules {
  weights::TokenizerSettings settings;
  size_t max_length = 0;  // tokens; 0: no limit
  std::string prompt;
};

// Returns the rules of `encode --kind`: the encoder, length and prompt of the kind.
Rules RulesOfKind(const std::filesystem::path& folder, bool query) {
  const weights::TowerFolders towers = weights::ReadTowerFolders(folder);
  const weights::ModelFolder& tower = query || !towers.document ? towers.query : *towers.document;
  const auto& limit = query ? towers.file.max_query_tokens : towers.file.max_document_tokens;
  return {.settings = tower.tokenizer,
          .max_length = limit.value_or(tower.tokenizer.max_tokens.tokens),
          .prompt = query ? tower.query_prompt() : tower.document_prompt()};
}

// Returns the rules for texts of no kind: no prompt, and the length limit of documents. The folder
// may lack everything but a tokenizer.
Rules RulesOfTexts(const std::filesystem::path& folder) {
  const weights::ModelFiles files(folder);
  const weights::TandemFile file = weights::ReadTandemFile(files);
  if (file.towers != weights::Towers::kShared) {
    throw UsageError(
        fmt::format("{}: is a model of two encoders; give --kind query or --kind "
                    "document",
                    folder.native()));
  }
  Rules rules{.settings = weights::ReadTokenizerSettings(files)};
  rules.max_length = file.max_document_tokens.value_or(rules.settings.max_tokens.tokens);
  return rules;
}

Rules ReadRules(const TokenizeOptions& options) {
  Rules rules = options.kind.empty() ? RulesOfTexts(options.model)
                                     : RulesOfKind(options.model, options.kind == "query");
  if (options.max_length) rules.max_length = *options.max_length;
  return rules;
}

// Returns "101 7592 102\n" for each text.
std::string FormatIds(const text::EncodedTexts& encoded) {
  constexpr size_t kMaxIdDigits = 11;
  std::string out;
  out.resize(encoded.ids.size() * kMaxIdDigits + encoded.size() + 1);
  char* p = out.data();
  char* const end = p + out.size();
  for (size_t b = 0; b < encoded.size(); ++b) {
    const std::span<const int32_t> ids = encoded[b];
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i > 0) *p++ = ' ';
      p = std::to_chars(p, end, ids[i]).ptr;
    }
    *p++ = '\n';
  }
  out.resize(static_cast<size_t>(p - out.data()));
  return out;
}

struct Chunk {
  std::string out;
  size_t truncated = 0;
};

text::EncodedTexts EncodeBehindPrompt(const text::Tokenizer& tokenizer, const Rules& rules,
                                      std::span<const std::string_view> lines) {
  if (rules.prompt.empty()) return tokenizer.EncodeAll(lines, rules.max_length, 1);
  std::vector<std::string> texts;
  for (const std::string_view line : lines) texts.push_back(rules.prompt + std::string(line));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return tokenizer.EncodeAll(views, rules.max_length, 1);
}

size_t TokenizeLines(const text::Tokenizer& tokenizer, const Rules& rules,
                     std::span<const std::string_view> lines, int threads) {
  std::vector<Chunk> chunks((lines.size() + kLinesPerTask - 1) / kLinesPerTask);
  ParallelFor(lines.size(), kLinesPerTask, threads, [&](size_t begin, size_t end) {
    const text::EncodedTexts encoded =
        EncodeBehindPrompt(tokenizer, rules, lines.subspan(begin, end - begin));
    chunks[begin / kLinesPerTask] = {FormatIds(encoded), encoded.truncated};
  });
  size_t truncated = 0;
  for (const Chunk& chunk : chunks) {
    if (std::fwrite(chunk.out.data(), 1, chunk.out.size(), stdout) != chunk.out.size()) {
      throw OutputError("standard output", "cannot be written", errno);
    }
    truncated += chunk.truncated;
  }
  if (std::fflush(stdout) != 0) throw OutputError("standard output", "cannot be written", errno);
  return truncated;
}

void RunTokenize(const TokenizeOptions& options) {
  const Rules rules = ReadRules(options);
  const std::unique_ptr<const text::Tokenizer> tokenizer =
      text::LoadTokenizer(rules.settings.folder, {.lower_case = rules.settings.lower_case},
                          rules.settings.KnownFiles());
  const size_t max_length = rules.max_length;
  if (max_length != 0 && max_length < tokenizer->special_tokens()) {
    throw UsageError(
        fmt::format("--max-length {} has no room for the {} special tokens; give 0 "
                    "for no limit, or at least {}",
                    max_length, tokenizer->special_tokens(), tokenizer->special_tokens()));
  }
  LineBlocks blocks(STDIN_FILENO, kBlockBytes);
  std::vector<std::string_view> lines;
  size_t total = 0;
  size_t truncated = 0;
  while (blocks.Next(&lines)) {
    truncated += TokenizeLines(*tokenizer, rules, lines, ThreadsOf(options.globals));
    total += lines.size();
  }
  if (truncated > 0) {
    Warn(fmt::format("lines cut to {} tokens: {} of {}", max_length, truncated, total));
  }
}

CommandBody ConfigureTokenize(Flags& flags) {
  auto options = std::make_shared<TokenizeOptions>();
  flags.Add("--model", options->model, "Model folder with tokenizer.json or vocab.txt").Required();
  flags
      .Add("--kind", options->kind,
           "query or document: put this kind's prompt before each line and cut at this kind's "
           "length, as encode does (default: no prompt, the length of documents)")
      .OneOf({"document", "query"});
  flags
      .Add("--max-length", options->max_length,
           "Cut lines at this many tokens, special tokens counted; 0: no limit "
           "(default: the model's)")
      .Between(0, 2147483647);
  flags.SetFooter(
      "Reads texts from standard input, one per line (a line ends at \\n only), and prints the\n"
      "token ids of each, separated by spaces.");
  return [options](const Globals& globals) {
    options->globals = globals;
    RunTokenize(*options);
  };
}

constexpr Example kTokenizeExamples[] = {
    {"tandem tokenize --model models/all-MiniLM-L6-v2 < lines.txt",
     "Print a line of ids for each line"},
    {"tandem tokenize --model models/all-MiniLM-L6-v2 --kind query < lines.txt",
     "Print the ids that queries get, prompt and limit included"},
};

}  // namespace

extern const Command kTokenizeCommand{
    {.name = "tokenize",
     .summary = "Print the token ids of texts, as a model's tokenizer makes them"},
    ConfigureTokenize,
    kTokenizeExamples};

}  // namespace tandem::app
