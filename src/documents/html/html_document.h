// HTML to a document.
#pragma once

#include <string_view>

#include "documents/document.h"

namespace tandem::documents {

// Reads title, text, blocks, links and captions of an HTML page; the id stays empty.
//
// The title is options.title where one is given, else the page's only h1, else what its element
// `title` says, else ""; an only h1 that says the title is left out of the text. Left out too:
// scripts, styles, navigation (nav), footers, forms' controls, elements with `hidden`. A table that
// holds headings or tables is one for layout, whose cells are read as parts of the page. `summary`
// is a heading one level below the last one. Images give their `alt`.
//
// `html` is valid UTF-8; `file` serves errors. Throws DataError as HtmlTree does.
struct HtmlOptions {
  std::string_view title = {};
  bool has_lines = true;  // whether the lines are those of `file`, not of HTML that was made of it
};
Document ReadHtml(std::string_view html, std::string_view file, const HtmlOptions& options = {});

}  // namespace tandem::documents
