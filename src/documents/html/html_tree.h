// The tree of an HTML text, as HTML5 says that browsers build it. Gumbo parses.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct GumboInternalNode;

namespace tandem::documents {

class HtmlTree {
 public:
  // `html` must outlive the tree and be valid UTF-8. Throws DataError naming `file` and, where
  // `has_lines` says that lines of the HTML are the file's, the line at which elements lie deeper
  // in each other than kMostHtmlLevels.
  HtmlTree(std::string_view html, std::string_view file, bool has_lines);
  HtmlTree(const HtmlTree&) = delete;
  HtmlTree& operator=(const HtmlTree&) = delete;
  ~HtmlTree();

  // The element `html`.
  const GumboInternalNode* root() const;

 private:
  class Memory;
  std::unique_ptr<Memory> memory_;
  const GumboInternalNode* root_ = nullptr;
};

}  // namespace tandem::documents
