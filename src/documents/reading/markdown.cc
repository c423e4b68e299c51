#include "documents/reading/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "documents/html/html_document.h"

namespace tandem::documents {
namespace {

struct Deleter {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
  void operator()(cmark_node* node) const { cmark_node_free(node); }
  void operator()(char* text) const { std::free(text); }
};

// The line that begins at `begin`, without its end.
std::string_view LineAt(std::string_view text, size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view Unquoted(std::string_view value) {
  const Span span = Trimmed(value, {0, value.size()});
  value = value.substr(span.begin, span.size());
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string ToHtml(std::string_view text) {
  // Raw HTML is kept (UNSAFE): only its text is read, by the reader that pages go through.
  constexpr int kOptions = CMARK_OPT_UNSAFE | CMARK_OPT_HARDBREAKS;
  static const bool registered = (cmark_gfm_core_extensions_ensure_registered(), true);
  static_cast<void>(registered);
  const std::unique_ptr<cmark_parser, Deleter> parser(cmark_parser_new(kOptions));
  for (const char* name : {"table", "strikethrough", "autolink"}) {
    cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
  }
  cmark_parser_feed(parser.get(), text.data(), text.size());
  const std::unique_ptr<cmark_node, Deleter> root(cmark_parser_finish(parser.get()));
  const std::unique_ptr<char, Deleter> html(
      cmark_render_html(root.get(), kOptions, cmark_parser_get_syntax_extensions(parser.get())));
  return html.get();
}

}  // namespace

FrontMatter FindFrontMatter(std::string_view text) {
  if (LineAt(text, 0) != "---") return {};
  FrontMatter found;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    const std::string_view line = LineAt(text, ++at);
    if (line == "---" || line == "...") {
      const size_t end = text.find('\n', at);
      found.bytes = end == std::string_view::npos ? text.size() : end + 1;
      return found;
    }
    if (found.title.empty() && line.starts_with("title:")) found.title = Unquoted(line.substr(6));
    if (found.title.starts_with('>') || found.title.starts_with('|')) found.title = {};
  }
  return {};  // it never ends, so that the first line is a rule
}

Document ReadMarkdown(std::string_view text, std::string_view file) {
  const FrontMatter front = FindFrontMatter(text);
  Document document =
      ReadHtml(ToHtml(text.substr(front.bytes)), file, {.title = front.title, .has_lines = false});
  document.front_matter = front.bytes > 0;
  return document;
}

}  // namespace tandem::documents
