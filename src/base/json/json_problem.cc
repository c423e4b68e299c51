#include "base/json/json_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/files/file_kind.h"
#include "base/json/json_scanner.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr std::string_view kInvalid = "is not valid JSON";
constexpr size_t kStartBytes = 40;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// "column 12", or "line 3, column 12" where the text has several lines.
std::string PlaceText(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t last_end = before.rfind('\n');
  const std::string_view of_line = last_end == before.npos ? before : before.substr(last_end + 1);
  const auto column = 1 + std::count_if(of_line.begin(), of_line.end(), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
                      });
  if (text.find('\n') == text.npos) return fmt::format("column {}", column);
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     column);
}

std::string Utf8Text(std::string_view text, size_t offset, std::string_view byte) {
  return fmt::format(
      "is not valid UTF-8: {} at {}; a file in Windows-1252 or Latin-1 is converted with `iconv -f "
      "WINDOWS-1252 -t UTF-8`",
      byte, PlaceText(text, offset));
}

std::string FaultText(std::string_view text, const JsonFault& fault) {
  const std::string where = fault.where.empty() ? "" : fmt::format(", in `{}`", fault.where);
  return fmt::format("{}{}: {}", PlaceText(text, fault.offset), where, fault.what);
}

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  return text;
}

// Returns at most kStartBytes of a text, in whole characters, without control characters.
std::string Start(std::string_view text) {
  size_t end = std::min(kStartBytes, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  std::string start(text.substr(0, end));
  std::replace_if(
      start.begin(), start.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; }, '?');
  if (end < text.size()) start += "...";
  return start;
}

// Describes a line that is a JSON value, but no object.
std::string OtherValue(std::string_view line) {
  const char first = line.front();
  const std::string_view kind = first == '"'                   ? "a string"
                                : first == 't' || first == 'f' ? "true or false"
                                : first == 'n'                 ? "null"
                                                               : "a number";
  return fmt::format("is {}, not a JSON object; expected one object per line", kind);
}

// Describes a line that does not begin as JSON does.
std::string OtherText(std::string_view line, const JsonLinePlace& place) {
  const bool tabs = line.find('\t') != line.npos;
  if (!tabs && line.find(',') == line.npos) {
    return fmt::format(
        "is no JSON object: it begins with \"{}\"; expected one object per line, "
        "such as {{\"_id\": \"1\", \"text\": \"...\"}}",
        Start(line));
  }
  return fmt::format(
      "is no JSON object, but looks like columns separated by {}: \"{}\"; expected one object per "
      "line. To convert, in Python: pandas.read_csv(\"{}\"{}).to_json(\"NEW.jsonl\", "
      "orient=\"records\", lines=True, force_ascii=False)",
      tabs ? "tabs (TSV)" : "commas (CSV)", Start(line), place.file, tabs ? ", sep=\"\\t\"" : "");
}

// Describes an object that its line ends inside of.
std::string CutObject(const JsonFault& fault, const JsonLinePlace& place) {
  if (!place.has_end) {
    return fmt::format(
        "{}: the last line ends inside {}: the file is cut short; fetch or write it "
        "again",
        kInvalid, fault.kind == JsonFault::Kind::kEndInString ? "a string" : "an object");
  }
  if (fault.kind == JsonFault::Kind::kEndInString) {
    return fmt::format("{}: the line ends inside a string; a line end in a text is written \\n",
                       kInvalid);
  }
  return fmt::format(
      "{}: the object does not end on its line; expected one object per line. Pretty-printed JSON "
      "becomes such lines by `jq -c . {} > NEW`",
      kInvalid, place.file);
}

}  // namespace

std::string JsonFaultText(std::string_view text) {
  const auto fault = JsonScanner(text, false).Scan();
  if (!fault) return "";
  return fault->kind == JsonFault::Kind::kNoUtf8
             ? fmt::format("{} at {} is no UTF-8", fault->what, PlaceText(text, fault->offset))
             : FaultText(text, *fault);
}

std::string JsonProblem(std::string_view text) {
  if (std::string problem = NoDataProblem(text.substr(0, kFileKindBytes), "FILE");
      !problem.empty()) {
    return problem;
  }
  if (WithoutBlanks(text).empty()) return fmt::format("{}: it is empty", kInvalid);
  JsonScanner scanner(text, false);
  const auto fault = scanner.Scan();
  if (!fault && scanner.numbers().empty()) return std::string(kInvalid);
  if (!fault) {
    const JsonNumber& number = scanner.numbers().front();
    return fmt::format("{}: {}: {} is a number that 64 bits do not hold", kInvalid,
                       PlaceText(text, number.offset), Start(number.text));
  }
  if (fault->kind == JsonFault::Kind::kNoUtf8) return Utf8Text(text, fault->offset, fault->what);
  const bool is_cut =
      fault->kind == JsonFault::Kind::kEnd || fault->kind == JsonFault::Kind::kEndInString;
  return fmt::format("{}: {}{}", kInvalid, FaultText(text, *fault),
                     is_cut ? "; the file is cut short" : "");
}

std::string JsonLineProblem(std::string_view line, const JsonLinePlace& place) {
  if (place.is_first) {
    if (std::string problem = NoDataProblem(line, place.file); !problem.empty()) return problem;
  }
  if (line.starts_with(kUtf8Mark)) {
    return "begins with a byte order mark, which stands at the start of a file only; remove it";
  }
  const std::string_view text = WithoutBlanks(line);
  if (text.starts_with('[')) {
    return fmt::format(
        "begins a JSON array; expected one object per line, which `jq -c '.[]' {} > "
        "NEW` writes",
        place.file);
  }
  const auto fault = JsonScanner(line, false).Scan();
  if (!fault) return text.starts_with('{') ? std::string(kInvalid) : OtherValue(text);
  if (fault->kind == JsonFault::Kind::kNoUtf8) return Utf8Text(line, fault->offset, fault->what);
  if (!text.starts_with('{')) return OtherText(text, place);
  switch (fault->kind) {
    case JsonFault::Kind::kEnd:
    case JsonFault::Kind::kEndInString:
      return CutObject(*fault, place);
    case JsonFault::Kind::kBehind:
      return fmt::format(
          "{}: {}: {}; expected one object per line, which `jq -c . {} > NEW` writes", kInvalid,
          PlaceText(line, fault->offset),
          line[fault->offset] == '{'   ? "a second object begins on the line"
          : line[fault->offset] == ',' ? "a comma stands after the object"
                                       : "something stands after the object",
          place.file);
    case JsonFault::Kind::kOther:
    case JsonFault::Kind::kNoUtf8:
      break;
  }
  return fmt::format("{}: {}", kInvalid, FaultText(line, *fault));
}

std::string Utf8Problem(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const int bytes = CharacterLength(text.substr(at));
    if (bytes < 0) {
      return Utf8Text(text, at, fmt::format("the byte 0x{:02X}", text[at] & 0xFF));
    }
    at += static_cast<size_t>(bytes);
  }
  return "";
}

std::optional<std::string> WithNumbersThatFit(std::string_view json) {
  JsonScanner scanner(json, false);
  if (scanner.Scan() || scanner.numbers().empty()) return std::nullopt;
  std::string fitting(json);
  for (const JsonNumber& number : scanner.numbers()) {
    const std::string_view text = number.text;
    const bool is_integer = text.find_first_of(".eE") == text.npos;
    std::string shorter = "{}";
    constexpr size_t kMostDigits = 308;  // 10^308 is the largest power that a double holds
    if (is_integer && text.size() <= kMostDigits) {
      shorter = fmt::format("{}e2", text.substr(0, text.size() - 2));
    }
    shorter.resize(text.size(), ' ');
    fitting.replace(number.offset, text.size(), shorter);
  }
  return fitting;
}

}  // namespace tandem
