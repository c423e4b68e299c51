// Json::Dump.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/json/json.h"
#include "base/json/json_double.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view NamedEscape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return "";
  }
}

bool StandsForItself(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
         c != '"' && c != '\\';
}

class Writer {
 public:
  Writer(int indent, JsonBytes bytes, std::string* out)
      : indent_(indent), bytes_(bytes), out_(*out) {}

  void Write(const Json& json) {
    if (json.is_object()) {
      Object(json.items());
    } else if (json.is_array()) {
      Array(json);
    } else if (json.is_string()) {
      Text(json.text());
    } else {
      Scalar(json);
    }
  }

 private:
  void Object(const Json::Members& members) {
    out_ += '{';
    ++level_;
    for (const JsonMember& member : members) {
      if (&member != &members.front()) out_ += ',';
      NewLine();
      Text(member.key);
      out_ += indent_ < 0 ? ":" : ": ";
      Write(member.value);
    }
    Close('}', members.empty());
  }

  void Array(const Json& array) {
    out_ += '[';
    ++level_;
    for (const Json& element : array) {
      if (&element != array.begin()) out_ += ',';
      NewLine();
      Write(element);
    }
    Close(']', array.empty());
  }

  void Close(char bracket, bool empty) {
    --level_;
    if (!empty) NewLine();
    out_ += bracket;
  }

  void NewLine() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_ * level_), ' ');
  }

  void Scalar(const Json& json) {
    if (json.is_null()) {
      out_ += "null";
    } else if (json.is_boolean()) {
      out_ += json.get<bool>() ? "true" : "false";
    } else if (json.is_number_unsigned()) {
      fmt::format_to(std::back_inserter(out_), "{}", json.get<uint64_t>());
    } else if (json.is_number_integer()) {
      fmt::format_to(std::back_inserter(out_), "{}", json.get<int64_t>());
    } else if (const auto number = json.get<double>(); std::isfinite(number)) {
      AppendJsonDouble(number, &out_);
    } else {
      out_ += "null";
    }
  }

  void Text(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      size_t plain = 0;
      while (plain < text.size() && StandsForItself(text[plain])) ++plain;
      out_.append(text.substr(0, plain));
      text.remove_prefix(plain);
      if (!text.empty()) text.remove_prefix(Character(text));
    }
    out_ += '"';
  }

  // Writes the first character of `text` and returns its bytes.
  size_t Character(std::string_view text) {
    if (const std::string_view escape = NamedEscape(text.front()); !escape.empty()) {
      out_ += escape;
      return 1;
    }
    if (static_cast<unsigned char>(text.front()) < 0x20) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(text.front()));
      return 1;
    }
    const int length = CharacterLength(text);
    const auto bytes = static_cast<size_t>(std::abs(length));
    if (length > 0) {
      out_.append(text.substr(0, bytes));
      return bytes;
    }
    if (bytes_ == JsonBytes::kRefuse) {
      throw JsonError(fmt::format("a text has the byte 0x{:02X}, which is not UTF-8",
                                  static_cast<unsigned char>(text.front())));
    }
    out_ += kReplacement;
    return bytes;
  }

  int indent_;
  JsonBytes bytes_;
  std::string& out_;
  int level_ = 0;
};

}  // namespace

std::string Json::Dump(int indent, JsonBytes bytes) const {
  std::string out;
  Writer(indent, bytes, &out).Write(*this);
  return out;
}

}  // namespace tandem
