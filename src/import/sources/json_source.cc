// Rows of JSON lines, and of a JSON array of objects.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/input/line_reader.h"
#include "data/lines/json_line.h"
#include "import/sources/open_source.h"

namespace tandem::import_data {
namespace {

constexpr std::string_view kKind = "rows that are no JSON object";

// Sets cells of `row` from the object `text`, or its problem. `reader` gives errors their place.
void ParseInto(data::JsonLineParser& parser, const data::LineReader& reader, std::string_view text,
               Row* row) {
  row->problem.clear();
  row->problem_kind = {};
  row->cells = {};
  try {
    row->cells = parser.Parse(reader, text);
  } catch (const DataError& error) {
    const std::string place = fmt::format("{}:{}: ", reader.file(), reader.line_number());
    std::string problem = error.what();
    if (problem.starts_with(place)) problem.erase(0, place.size());
    row->problem_kind =
        problem.find("not valid UTF-8") != problem.npos ? "rows that are not UTF-8" : kKind;
    row->problem = std::move(problem);
  }
}

class JsonLinesSource final : public RowSource {
 public:
  JsonLinesSource(const std::filesystem::path& path, data::Warnings& warnings)
      : reader_(path, warnings) {}

  bool Next(Row* row) override {
    std::string_view line;
    if (!reader_.Next(&line)) return false;
    row->file = reader_.file();
    row->line = reader_.line_number();
    row->raw = line;
    ParseInto(parser_, reader_, line, row);
    return true;
  }
  std::string Description() const override { return "JSON lines"; }

 private:
  data::LineReader reader_;
  data::JsonLineParser parser_;
};

// Cuts the elements of an array out of a file, one by one, so that a file of any size takes the
// memory of one element.
class ArrayElements {
 public:
  ArrayElements(const std::filesystem::path& path, std::string file)
      : file_(std::move(file)), source_(data::OpenBytes(path, file_)), buffer_(kBufferBytes) {}

  // Sets the element's text, to which padding bytes that the parser may read are appended, and the
  // line on which it begins; false after the last one. Throws DataError where the array does not
  // end, and for anything else around its elements.
  bool Next(std::string* text, size_t* size, int64_t* line) {
    if (!began_) Begin();
    const char first = NextVisible();
    if (first == ']' && !has_element_) return End();
    if (has_element_) {
      if (first == ']') return End();
      if (first != ',') Fail("a comma or ] is missing after an element");
      Take();
      if (NextVisible() == ']') Fail("a comma stands before ], after which no element comes");
    } else if (first == '\0') {
      Fail("the file ends inside of the array; it is cut short");
    }
    has_element_ = true;
    *line = line_;
    text->clear();
    Cut(*text);
    *size = text->size();
    text->append(data::LineReader::kPadding, '\0');
    return true;
  }

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 18;

  [[noreturn]] void Fail(std::string_view what) const {
    throw DataError(file_, line_, "", fmt::format("is not valid JSON: {}", what));
  }

  // 0 at the end.
  char Peek() {
    if (at_ == end_) {
      at_ = 0;
      end_ = source_->Read(buffer_.data(), buffer_.size());
      if (end_ == 0) return '\0';
    }
    return buffer_[at_];
  }
  char Take() {
    const char c = Peek();
    if (at_ < end_) ++at_;
    if (c == '\n') ++line_;
    return c;
  }
  char NextVisible() {
    char c = Peek();
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      Take();
      c = Peek();
    }
    return c;
  }

  void Begin() {
    began_ = true;
    for (const char byte : data::kByteOrderMark) {
      if (Peek() != byte) break;
      Take();
    }
    if (NextVisible() != '[') Fail("an array is expected, which begins with [");
    Take();
  }

  bool End() {
    Take();
    if (NextVisible() != '\0') Fail("something stands after the array");
    return false;
  }

  // An element ends where no object, array or string is open. What is wrong inside of it the parser
  // says.
  void Cut(std::string& text) {
    const int64_t first_line = line_;
    size_t depth = 0;
    bool in_string = false;
    while (true) {
      const char c = Peek();
      if (c == '\0' && at_ == end_) Fail("the file ends inside of the array; it is cut short");
      if (!in_string && depth == 0 && (c == ',' || c == ']')) return;
      text += Take();
      if (text.size() > data::kMaxLineBytes) data::ThrowLongLine(file_, first_line);
      if (in_string) {
        if (c == '\\') text += Take();
        if (c == '"') in_string = false;
        continue;
      }
      if (c == '"') in_string = true;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth == 0 && (c == '}' || c == ']')) return;
    }
  }

  std::string file_;
  std::unique_ptr<data::ByteSource> source_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  size_t end_ = 0;
  int64_t line_ = 1;
  bool began_ = false;
  bool has_element_ = false;
};

class JsonArraySource final : public RowSource {
 public:
  JsonArraySource(const std::filesystem::path& path, data::Warnings& warnings)
      : file_(path.native()), warnings_(warnings), elements_(path, file_) {}

  bool Next(Row* row) override {
    size_t size = 0;
    int64_t line = 0;
    if (!elements_.Next(&text_, &size, &line)) return false;
    const std::string_view element(text_.data(), size);
    // Gives errors their place; it has no bytes of its own.
    const data::LineReader place(file_, std::string_view(), warnings_, line + 1);
    row->file = file_;
    row->line = line;
    row->element = ++count_;
    row->raw = element;
    ParseInto(parser_, place, element, row);
    return true;
  }
  std::string Description() const override { return "a JSON array"; }

 private:
  std::string file_;
  data::Warnings& warnings_;
  ArrayElements elements_;
  uint64_t count_ = 0;
  std::string text_;
  data::JsonLineParser parser_;
};

}  // namespace

std::unique_ptr<RowSource> MakeJsonLinesSource(const std::filesystem::path& path,
                                               data::Warnings& warnings) {
  return std::make_unique<JsonLinesSource>(path, warnings);
}

std::unique_ptr<RowSource> MakeJsonArraySource(const std::filesystem::path& path,
                                               data::Warnings& warnings) {
  return std::make_unique<JsonArraySource>(path, warnings);
}

}  // namespace tandem::import_data
