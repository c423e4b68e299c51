// HTML whose texts are escaped unless a type says that they are markup.
//
//   Html html;
//   html.In("p", {{"class", "note"}}, [&] { html.Text(query); });
//
// Elements are closed by construction. No template engine of Debian's fits: ctemplate escapes, but
// keeps its templates in tables of the process and leaves invalid UTF-8 and control characters in.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tandem::report {

// `text` as it may stand in a page: invalid UTF-8, control characters (but tab and line end) and
// characters that override or isolate the direction of what follows them become U+FFFD. A name or a
// text of a data set can then neither hide nor reorder what stands beside it.
std::string CleanText(std::string_view text);

// CleanText with & < > " ' as character references: for text and quoted attributes.
std::string EscapedText(std::string_view text);

// Markup that this program made.
struct Markup {
  std::string text;
};

class Html {
 public:
  struct Attribute {
    std::string_view name;  // a literal
    std::string value;      // any text
  };
  using Attributes = std::initializer_list<Attribute>;
  using Content = std::function<void()>;

  // <tag attributes>, what `content` adds, </tag>.
  void In(std::string_view tag, Attributes attributes, const Content& content);
  void In(std::string_view tag, const Content& content) { In(tag, {}, content); }
  // An element that holds a text.
  void Element(std::string_view tag, Attributes attributes, std::string_view text);
  void Element(std::string_view tag, std::string_view text) { Element(tag, {}, text); }
  // An element that holds nothing and has no end tag: meta, br, col.
  void Void(std::string_view tag, Attributes attributes);
  void Text(std::string_view text) { bytes_ += EscapedText(text); }
  // A text of a data set or a name that somebody gave, with a direction of its own (<bdi>).
  void Foreign(std::string_view text) { Element("bdi", text); }
  void Add(const Markup& markup) { bytes_ += markup.text; }
  // A line end, for readers of the source.
  void Break() { bytes_ += '\n'; }

  const std::string& bytes() const { return bytes_; }

 private:
  void Open(std::string_view tag, Attributes attributes);

  std::string bytes_;
};

}  // namespace tandem::report
