#include "commands/search/query_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "data/formats/trec_run.h"
#include "data/input/line_reader.h"
#include "data/input/text_input.h"
#include "data/warnings.h"

namespace tandem::app {
namespace {

class TextQueries final : public QuerySource {
 public:
  explicit TextQueries(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  std::vector<SearchQuery> Next(size_t most) override {
    std::vector<SearchQuery> queries;
    while (queries.size() < most && next_ < texts_.size()) {
      queries.push_back({fmt::format("q{}", next_ + 1), texts_[next_]});
      ++next_;
    }
    return queries;
  }

 private:
  std::vector<std::string> texts_;
  size_t next_ = 0;
};

class FileQueries final : public QuerySource {
 public:
  FileQueries(const std::string& file, bool for_run)
      : input_({.inputs = {file}, .role = data::TextRole::kQuery}, warnings_.get()),
        for_run_(for_run) {}

  std::vector<SearchQuery> Next(size_t most) override {
    std::vector<SearchQuery> queries;
    data::InputText text;
    while (queries.size() < most && input_.Next(&text)) {
      queries.push_back({std::string(text.id), std::string(text.text)});
      CheckId(text);
    }
    return queries;
  }

 private:
  void CheckId(const data::InputText& text) {
    if (for_run_) data::CheckTrecId(std::string(text.file), text.id);
    const auto [first, is_new] = lines_.emplace(text.id, text.line);
    if (is_new) return;
    throw DataError(text.file, text.line, text.id,
                    fmt::format("is the id of an earlier query, of line {}", first->second));
  }

  data::WarningScope warnings_{nullptr};
  data::TextInput input_;
  bool for_run_;
  std::unordered_map<std::string, int64_t> lines_;  // line of each id so far
};

class LineQueries final : public QuerySource {
 public:
  LineQueries(int descriptor, std::string prompt)
      : descriptor_(descriptor), prompt_(std::move(prompt)) {}

  std::vector<SearchQuery> Next(size_t most) override {
    std::vector<SearchQuery> queries;
    while (queries.size() < most) {
      std::string line;
      if (TakeLine(&line)) {
        Add(std::move(line), &queries);
      } else if (!queries.empty() || !Read()) {
        break;
      }
    }
    return queries;
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 20;  // most bytes of a line
  static constexpr size_t kReadBytes = size_t{1} << 16;

  // Takes the next whole line; returns false if the bytes read so far have none.
  bool TakeLine(std::string* line) {
    size_t end = buffer_.find('\n', begin_);
    if (end == std::string::npos) {
      if (!at_end_ || begin_ == buffer_.size()) return false;
      end = buffer_.size();
    }
    line->assign(buffer_, begin_, end - begin_);
    begin_ = std::min(buffer_.size(), end + 1);
    ++number_;
    return true;
  }

  void Add(std::string line, std::vector<SearchQuery>* queries) const {
    if (number_ == 1 && line.starts_with(data::kByteOrderMark))
      line.erase(0, data::kByteOrderMark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t\v\f") == std::string::npos) return;
    queries->push_back({fmt::format("q{}", number_), std::move(line)});
  }

  // Waits for more bytes; returns false at the end.
  bool Read() {
    if (at_end_) return false;
    buffer_.erase(0, begin_);
    begin_ = 0;
    if (buffer_.size() > kMostBytes) {
      throw DataError("standard input", number_ + 1, "",
                      "has more than 1 MiB, and each line is a query");
    }
    if (!prompt_.empty()) WriteAll(STDERR_FILENO, prompt_);
    const size_t size = buffer_.size();
    buffer_.resize(size + kReadBytes);
    ssize_t count = -1;
    do {
      count = ::read(descriptor_, buffer_.data() + size, kReadBytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      throw DataError("standard input", 0, "",
                      fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    buffer_.resize(size + static_cast<size_t>(count));
    at_end_ = count == 0;
    return true;
  }

  static void WriteAll(int descriptor, std::string_view text) {
    if (::write(descriptor, text.data(), text.size()) < 0) return;  // nobody sees the prompt
  }

  int descriptor_;
  std::string prompt_;
  std::string buffer_;  // bytes from begin_ on are not handed out yet
  size_t begin_ = 0;
  int64_t number_ = 0;  // of the last line taken
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<QuerySource> QueriesOfTexts(std::vector<std::string> texts) {
  return std::make_unique<TextQueries>(std::move(texts));
}

std::unique_ptr<QuerySource> QueriesOfFile(const std::string& file, bool for_run) {
  return std::make_unique<FileQueries>(file, for_run);
}

std::unique_ptr<QuerySource> QueriesOfLines(int descriptor, std::string prompt) {
  return std::make_unique<LineQueries>(descriptor, std::move(prompt));
}

}  // namespace tandem::app
