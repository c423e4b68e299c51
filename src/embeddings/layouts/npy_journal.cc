#include "embeddings/layouts/npy_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"

namespace tandem::embeddings {
namespace {

constexpr std::string_view kJournalFirstLine = "tandem encode 2";
constexpr std::string_view kBlocks = "blocks";
constexpr std::string_view kBlock = "block ";
constexpr std::string_view kEnd = "end ";

// The next line of `rest` without its end, which goes from there; nothing where none is whole.
std::optional<std::string_view> TakeLine(std::string_view* rest) {
  const size_t end = rest->find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 1);
  return line;
}

// The numbers of a block in the order of its line.
template <typename Block>
auto NumbersOf(Block& block) {
  auto& counts = block.counts;
  return std::array{&counts.texts,     &block.texts_hash,  &block.rows_hash,  &block.ids_hash,
                    &block.ids_bytes,  &counts.tokens,     &counts.truncated, &counts.empty,
                    &counts.tokenless, &counts.only_prompt};
}

std::string LineOf(const JournalBlock& block) {
  std::string line(kBlock.substr(0, kBlock.size() - 1));
  for (const auto* number : NumbersOf(block)) line += fmt::format(" {}", *number);
  return line + "\n";
}

std::optional<JournalBlock> BlockOf(std::string_view line) {
  if (!line.starts_with(kBlock)) return std::nullopt;
  const char* at = line.data() + kBlock.size() - 1;
  const char* const end = line.data() + line.size();
  JournalBlock block;
  for (auto* number : NumbersOf(block)) {
    if (at == end || *at != ' ') return std::nullopt;
    const auto [stop, error] = std::from_chars(at + 1, end, *number);
    if (error != std::errc()) return std::nullopt;
    at = stop;
  }
  return at == end && block.rows() > 0 ? std::optional(block) : std::nullopt;
}

}  // namespace

uint64_t Journal::rows() const {
  uint64_t rows = 0;
  for (const JournalBlock& block : blocks) rows += block.rows();
  return rows;
}

uint64_t Journal::ids_bytes() const {
  uint64_t bytes = 0;
  for (const JournalBlock& block : blocks) bytes += block.ids_bytes;
  return bytes;
}

std::optional<Journal> ReadJournal(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const std::string text = ReadFile(path);
  std::string_view rest = text;
  const auto first = TakeLine(&rest);
  const size_t blocks = rest.find(fmt::format("\n{}\n", kBlocks));
  if (first != kJournalFirstLine || blocks == std::string_view::npos) {
    throw DataError(path.native(), 0, "",
                    "is no journal of this version of Tandem; encode with --force");
  }
  Journal journal{.provenance = Provenance(std::string(rest.substr(0, blocks + 1))), .blocks = {}};
  rest.remove_prefix(blocks + kBlocks.size() + 2);
  while (const auto line = TakeLine(&rest)) {
    if (*line == fmt::format("{}{}", kEnd, journal.rows())) {
      journal.complete = true;
      break;
    }
    const auto block = BlockOf(*line);
    if (!block) break;
    journal.blocks.push_back(*block);
  }
  return journal;
}

void CheckSameProvenance(const Journal& journal, const Provenance& wanted,
                         std::string_view output) {
  CheckSame(output, journal.provenance, wanted, Sameness::kBytes, "or encode with --force");
  if (journal.provenance != wanted) {
    throw UsageError(
        fmt::format("{}: was encoded by another version of Tandem; encode with --force", output));
  }
}

namespace {

// Writes the journal anew and opens it for what follows.
int OpenNew(const std::filesystem::path& path, const Journal& journal) {
  std::string text =
      fmt::format("{}\n{}{}\n", kJournalFirstLine, journal.provenance.lines(), kBlocks);
  for (const JournalBlock& block : journal.blocks) text += LineOf(block);
  WriteFileAtomically(path, text);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) throw OutputError(path.native(), "cannot be opened for writing", errno);
  return descriptor;
}

}  // namespace

JournalWriter::JournalWriter(std::filesystem::path path, const Journal& journal)
    : path_(std::move(path)), file_(OpenNew(path_, journal)) {}

void JournalWriter::Write(std::string_view line) {
  if (!WriteAll(file_.number(), line)) {
    throw OutputError(path_.native(), "cannot be written", errno);
  }
}

void JournalWriter::Append(const JournalBlock& block) { Write(LineOf(block)); }

void JournalWriter::End(uint64_t rows) {
  Write(fmt::format("{}{}\n", kEnd, rows));
  if (::fdatasync(file_.number()) != 0)
    throw OutputError(path_.native(), "cannot be written", errno);
}

}  // namespace tandem::embeddings
