#include "documents/html/html_nesting.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/hashes/text_hash.h"

namespace tandem::documents {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kNotCounted[] = {
    "area",     "base",   "body",  "br",    "col",   "colgroup", "dd",     "dt",    "embed",
    "frame",    "head",   "hr",    "html",  "img",   "input",    "li",     "link",  "meta",
    "optgroup", "option", "p",     "param", "rp",    "rt",       "source", "tbody", "td",
    "tfoot",    "th",     "thead", "tr",    "track", "wbr"};
constexpr std::string_view kFormatting[] = {"a",    "b", "big",   "code",   "em",     "font", "i",
                                            "nobr", "s", "small", "strike", "strong", "tt",   "u"};
// Elements whose content is text up to their end tag.
constexpr std::string_view kRawText[] = {"iframe", "noembed",  "noframes", "script",
                                         "style",  "textarea", "title",    "xmp"};
constexpr std::string_view kBarriers[] = {"applet", "caption", "marquee",
                                          "object", "table",   "template"};
constexpr size_t kCopies = 3;  // of an unclosed formatting element

bool IsIn(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

struct Tag {
  std::string name;  // lower case
  bool is_end = false;
  bool closes_itself = false;  // "/>": counts in SVG and MathML only, where elements may end so
  size_t end = 0;              // the byte after it
};

// The tag whose "<" is at `at`.
Tag ReadTag(std::string_view html, size_t at) {
  Tag tag{.is_end = html[at + 1] == '/'};
  size_t i = at + (tag.is_end ? 2 : 1);
  for (; i < html.size() && std::string_view(" \t\n\f\r/>").find(html[i]) == std::string_view::npos;
       ++i) {
    tag.name += Lower(html[i]);
  }
  char quote = 0;
  for (; i < html.size(); ++i) {
    if (quote != 0) {
      if (html[i] == quote) quote = 0;
    } else if (html[i] == '>') {
      break;
    } else if ((html[i] == '"' || html[i] == '\'') && html[i - 1] == '=') {
      quote = html[i];
    }
  }
  tag.closes_itself = i < html.size() && html[i - 1] == '/';
  tag.end = std::min(i + 1, html.size());
  return tag;
}

// The byte after the content of a raw text element.
size_t EndOfRawText(std::string_view html, size_t from, std::string_view name) {
  for (size_t at = html.find("</", from); at != std::string_view::npos;
       at = html.find("</", at + 2)) {
    const std::string_view found = html.substr(at + 2, name.size());
    if (found.size() == name.size() && std::equal(found.begin(), found.end(), name.begin(),
                                                  [](char a, char b) { return Lower(a) == b; })) {
      return at;
    }
  }
  return html.size();
}

// The elements that are open.
class OpenElements {
 public:
  size_t depth() const { return open_.size(); }
  // Whether SVG or MathML is open, where a tag may end its own element.
  bool in_foreign() const {
    return std::any_of(open_.begin(), open_.end(),
                       [](const Element& one) { return one.name == "svg" || one.name == "math"; });
  }

  void Start(const Tag& tag, std::string_view whole) {
    const bool formatting = IsIn(kFormatting, tag.name);
    const uint64_t hash = formatting ? TextHash(whole) : 0;
    if (formatting) {
      const auto copies = std::count_if(open_.begin(), open_.end(),
                                        [&](const Element& one) { return one.hash == hash; });
      if (static_cast<size_t>(copies) >= kCopies) return;
    }
    open_.push_back({tag.name, hash, IsIn(kBarriers, tag.name)});
  }

  void End(const Tag& tag) {
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].name == tag.name) {
        const auto at = open_.begin() + static_cast<std::ptrdiff_t>(i);
        // What lies in a formatting element stays open when that ends.
        open_.erase(at, open_[i].hash != 0 ? at + 1 : open_.end());
        return;
      }
      if (open_[i].barrier) return;
    }
  }

 private:
  struct Element {
    std::string name;
    uint64_t hash;  // of a formatting element's tag; else 0
    bool barrier;
  };
  std::vector<Element> open_;
};

// The byte after a comment or declaration that begins at `at`.
size_t EndOfMarkup(std::string_view html, size_t at) {
  const bool comment = html.substr(at, 4) == "<!--";
  const size_t end = html.find(comment ? "-->" : ">", at + (comment ? 2 : 1));
  return end == std::string_view::npos ? html.size() : end + (comment ? 3 : 1);
}

}  // namespace

int64_t LineNestedDeeperThan(std::string_view html, size_t most) {
  OpenElements open;
  for (size_t at = html.find('<'); at < html.size(); at = html.find('<', at)) {
    const char next = at + 1 < html.size() ? html[at + 1] : ' ';
    const bool end_tag = next == '/' && at + 2 < html.size() && IsLetter(html[at + 2]);
    if (next == '!' || next == '?' || (next == '/' && !end_tag)) {
      at = EndOfMarkup(html, at);
      continue;
    }
    if (!IsLetter(next) && !end_tag) {
      ++at;
      continue;
    }
    const Tag tag = ReadTag(html, at);
    if (tag.is_end) {
      open.End(tag);
    } else if (IsIn(kRawText, tag.name)) {
      at = EndOfRawText(html, tag.end, tag.name);
      continue;
    } else if (!IsIn(kNotCounted, tag.name) &&
               !(tag.closes_itself && (tag.name == "a" || open.in_foreign()))) {
      open.Start(tag, html.substr(at, tag.end - at));
      if (open.depth() > most) {
        return 1 + std::count(html.begin(), html.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      }
    }
    at = tag.end;
  }
  return 0;
}

}  // namespace tandem::documents
