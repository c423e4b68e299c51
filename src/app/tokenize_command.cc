// `tandem tokenize`: lines of text in, lines of token ids out.
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

#include "app/command.h"
#include "app/flags.h"
#include "app/globals.h"
#include "app/line_blocks.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "text/max_length.h"
#include "text/tokenizer.h"

namespace tandem::app {
namespace {

constexpr size_t kBlockBytes = size_t{8} << 20;  // some milliseconds of work for each thread
constexpr size_t kLinesPerTask = 64;

struct TokenizeOptions {
  std::string model;
  std::optional<size_t> max_length;  // nothing: the model's
};

// "101 7592 102\n" for each text.
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

size_t TokenizeLines(const text::Tokenizer& tokenizer, std::span<const std::string_view> lines,
                     size_t max_length) {
  std::vector<Chunk> chunks((lines.size() + kLinesPerTask - 1) / kLinesPerTask);
  ParallelFor(lines.size(), kLinesPerTask, Threads(), [&](size_t begin, size_t end) {
    const text::EncodedTexts encoded =
        tokenizer.EncodeAll(lines.subspan(begin, end - begin), max_length, 1);
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
  const std::filesystem::path folder = options.model;
  const std::unique_ptr<const text::Tokenizer> tokenizer = text::LoadTokenizer(folder);
  const size_t max_length = options.max_length ? *options.max_length : text::ModelMaxLength(folder);
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
    truncated += TokenizeLines(*tokenizer, lines, max_length);
    total += lines.size();
  }
  if (truncated > 0) {
    Warn(fmt::format("lines cut to {} tokens: {} of {}", max_length, truncated, total));
  }
}

std::function<void()> Configure(Flags& flags) {
  auto options = std::make_shared<TokenizeOptions>();
  flags.Add("--model", options->model, "Model folder with tokenizer.json or vocab.txt").Required();
  flags
      .Add("--max-length", options->max_length,
           "Tokens of a line at most, special tokens counted; 0: no limit "
           "(default: the model's)")
      .Between(0, 2147483647);
  flags.SetFooter(
      "Reads texts from standard input, one per line (a line ends at \\n only), and prints the\n"
      "token ids of each, separated by spaces.");
  return [options] { RunTokenize(*options); };
}

}  // namespace

extern const Command kTokenizeCommand{
    {.name = "tokenize",
     .summary = "Print the token ids of texts, as a model's tokenizer makes them"},
    Configure};

}  // namespace tandem::app
