#include "data/input/text_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

namespace tandem::data {
namespace {

int64_t CountLineEnds(const std::vector<char>& bytes) {
  int64_t count = 0;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)))) !=
         nullptr) {
    ++count;
    if (++at == end) break;
  }
  return count;
}

}  // namespace

TextBlocks::TextBlocks(const std::filesystem::path& path, size_t block_bytes)
    : file_(NameOfInput(path)), block_bytes_(block_bytes), source_(OpenBytes(path, file_)) {}

void TextBlocks::Fill(std::vector<char>& bytes, size_t size) {
  size_t filled = bytes.size();
  bytes.resize(filled + size);
  while (filled < bytes.size() && !at_end_) {
    at_end_ = true;  // also where this throws
    const size_t got = source_->Read(bytes.data() + filled, bytes.size() - filled);
    at_end_ = got == 0;
    filled += got;
  }
  bytes.resize(filled);
}

bool TextBlocks::Next(TextBlock* block) {
  const std::scoped_lock lock(mutex_);
  block->index = next_index_;
  block->first_line = next_line_;
  std::vector<char>& bytes = block->bytes;
  bytes.swap(rest_);  // which has no line end
  rest_.clear();
  size_t whole = 0;  // bytes of whole lines
  while (!at_end_ && whole == 0) {
    if (bytes.size() >= kMaxLineBytes) {
      at_end_ = true;
      ThrowLongLine(file_, next_line_);
    }
    const size_t searched = bytes.size();
    Fill(bytes, std::max(block_bytes_, searched));
    const std::string_view added = std::string_view(bytes.data(), bytes.size()).substr(searched);
    const size_t line_end = added.rfind('\n');
    if (line_end != std::string_view::npos) whole = searched + line_end + 1;
  }
  if (at_end_) whole = bytes.size();
  rest_.assign(bytes.begin() + static_cast<ptrdiff_t>(whole), bytes.end());
  bytes.resize(whole);
  if (bytes.empty()) return false;
  ++next_index_;
  next_line_ += CountLineEnds(bytes);
  return true;
}

bool TextBlocks::ended() {
  const std::scoped_lock lock(mutex_);
  return at_end_ && rest_.empty();
}

void ParseBlocks(TextBlocks& blocks, int threads, Warnings& warnings,
                 const std::function<void(size_t index, LineReader& reader)>& parse) {
  struct Outcome {
    Warnings warnings;
    std::exception_ptr failure;
  };
  std::map<size_t, Outcome> outcomes;  // by the index of the block
  std::mutex outcomes_mutex;
  std::atomic<bool> failed = false;
  const auto take = [&](TextBlock& block) {
    Outcome outcome;
    bool taken = true;
    try {
      taken = !failed && blocks.Next(&block);
      if (taken) {
        LineReader reader(blocks.file(), {block.bytes.data(), block.bytes.size()}, outcome.warnings,
                          block.first_line);
        parse(block.index, reader);
      }
    } catch (...) {
      outcome.failure = std::current_exception();
      failed = true;
    }
    if (!taken) return false;
    const std::scoped_lock lock(outcomes_mutex);
    outcomes.emplace(block.index, std::move(outcome));
    return true;
  };
  const auto work = [&] {
    TextBlock block;
    while (take(block)) continue;
  };
  TextBlock first;
  if (take(first) && !blocks.ended()) {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads && !blocks.ended(); ++i) helpers.emplace_back(work);
    work();
  }
  for (const auto& [index, outcome] : outcomes) {
    warnings.Add(outcome.warnings);
    if (outcome.failure) std::rethrow_exception(outcome.failure);
  }
}

}  // namespace tandem::data
