#include "data/input/line_reader.h"

#include <algorithm>
#include <utility>

#include "base/files/file_kind.h"
#include "data/input/read_ahead.h"

namespace tandem::data {
namespace {

constexpr size_t kStartBytes = size_t{1} << 18;

// A file that is large is read, and unpacked, ahead. A pipe is not: who has stopped reading it must
// not wait for it.
std::unique_ptr<ByteSource> Open(const std::filesystem::path& path, const std::string& file) {
  std::unique_ptr<ByteSource> source = OpenBytes(path, file);
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return source;
  return ReadAhead(std::move(source));
}

bool IsBlank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; });
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, Warnings& warnings)
    : file_(NameOfInput(path)),
      warnings_(&warnings),
      source_(Open(path, file_)),
      buffer_(kStartBytes + kPadding) {}

LineReader::LineReader(std::string file, std::string_view bytes, Warnings& warnings,
                       int64_t first_line)
    : file_(std::move(file)),
      warnings_(&warnings),
      source_(BytesInMemory(bytes)),
      buffer_(std::min(kStartBytes, bytes.size() + 1) + kPadding),
      line_number_(first_line - 1) {}

LineReader::LineReader(std::string file, std::unique_ptr<LineMaker> maker, Warnings& warnings)
    : file_(std::move(file)), warnings_(&warnings), maker_(std::move(maker)) {}

bool LineReader::MakeLine(std::string_view* line) {
  if (!maker_->Next(&made_, &line_number_)) return false;
  const size_t size = made_.size();
  made_.append(kPadding, '\0');
  *line = std::string_view(made_.data(), size);
  has_line_end_ = true;
  return true;
}

bool LineReader::Refill() {
  if (at_end_) return false;
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ + kPadding == buffer_.size()) {
    if (end_ >= kMaxLineBytes) ThrowLongLine(file_, line_number_ + 1);
    buffer_.resize(end_ * 2 + kPadding);
  }
  const size_t got = source_->Read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
  if (line_number_ == 0 && end_ == 0) {
    const std::string problem =
        NoTextProblem({buffer_.data(), std::min(got, kFileKindBytes)}, file_);
    if (!problem.empty()) throw DataError(file_, 0, "", problem);
  }
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

bool LineReader::NextRaw(std::string_view* line) {
  size_t searched = 0;
  while (true) {
    const std::string_view pending(buffer_.data() + begin_, end_ - begin_);
    const size_t newline = pending.find('\n', searched);
    searched = pending.size();
    if (newline != std::string_view::npos) {
      *line = pending.substr(0, newline);
      begin_ += newline + 1;
      has_line_end_ = true;
      break;
    }
    if (Refill()) continue;
    if (pending.empty()) return false;
    *line = std::string_view(buffer_.data() + begin_, pending.size());
    begin_ = end_;
    has_line_end_ = false;
    break;
  }
  ++line_number_;
  return true;
}

bool LineReader::NextWithBlank(std::string_view* line) {
  if (maker_ != nullptr) return MakeLine(line);
  if (!NextRaw(line)) return false;
  if (line_number_ == 1 && line->starts_with(kByteOrderMark)) {
    line->remove_prefix(kByteOrderMark.size());
    warnings_->Count(file_, "byte order marks, ignored", line_number_);
  }
  if (line->ends_with('\r')) {
    line->remove_suffix(1);
    warnings_->Count(file_, "lines that end in CR LF, read as LF", line_number_);
  }
  return true;
}

bool LineReader::Next(std::string_view* line) {
  while (NextWithBlank(line)) {
    if (!IsBlank(*line)) return true;
    warnings_->Count(file_, "blank lines, skipped", line_number_);
  }
  return false;
}

}  // namespace tandem::data
