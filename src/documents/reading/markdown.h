// Markdown to a document.
#pragma once

#include <string_view>

#include "documents/document.h"

namespace tandem::documents {

// What stands between "---" lines at the beginning of a file.
struct FrontMatter {
  size_t bytes = 0;        // of the text, its lines included; 0: there is none
  std::string_view title;  // the value of `title:` at the beginning of a line, without its quotes
};

// Finds a YAML front matter: a first line "---" and a later line "---" or "...". Only a title on
// one line is understood; nothing else of YAML is read.
FrontMatter FindFrontMatter(std::string_view text);

// Reads CommonMark with tables, strikethrough and bare links as GitHub has them (cmark-gfm), and
// the HTML in it (html/html_document.h). Lines of a paragraph stay lines. The title is that of the
// front matter, else as of HTML; the front matter is no part of the text. `text` is valid UTF-8.
// Throws DataError naming `file` as HtmlTree does.
Document ReadMarkdown(std::string_view text, std::string_view file);

}  // namespace tandem::documents
