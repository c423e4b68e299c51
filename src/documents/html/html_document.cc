#include "documents/html/html_document.h"

#include <gumbo.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "documents/html/html_tree.h"
#include "documents/text_builder.h"

namespace tandem::documents {
namespace {

using Node = const GumboNode;

GumboTag TagOf(Node* node) {
  const bool element = node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE;
  return element ? node->v.element.tag : GUMBO_TAG_LAST;
}

// The attribute's value; null where there is none.
const char* AttributeOf(Node* node, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&node->v.element.attributes, name);
  return found == nullptr ? nullptr : found->value;
}

// Walks a tree without calling itself, since a tree may be deep.
template <typename Enter, typename Leave>
void Walk(Node* root, const Enter& enter, const Leave& leave) {
  struct Step {
    Node* node;
    unsigned int next;  // child
  };
  std::vector<Step> steps;
  const auto visit = [&](Node* node) {
    if (enter(node) && TagOf(node) != GUMBO_TAG_LAST) steps.push_back({node, 0});
  };
  visit(root);
  while (!steps.empty()) {
    Step& step = steps.back();
    const GumboVector& children = step.node->v.element.children;
    if (step.next < children.length) {
      visit(static_cast<Node*>(children.data[step.next++]));
    } else {
      leave(step.node);
      steps.pop_back();
    }
  }
}

bool IsText(Node* node) {
  return node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
         node->type == GUMBO_NODE_CDATA;
}

std::string TextBelow(Node* root) {
  Document document;
  TextBuilder builder(&document);
  Walk(
      root,
      [&](Node* node) {
        if (IsText(node)) builder.Text(node->v.text.text);
        if (TagOf(node) == GUMBO_TAG_BR) builder.Space();
        return true;
      },
      [](Node*) {});
  builder.Close();
  return document.text;
}

int HeadingLevel(GumboTag tag) {
  constexpr GumboTag kHeadings[] = {GUMBO_TAG_H1, GUMBO_TAG_H2, GUMBO_TAG_H3,
                                    GUMBO_TAG_H4, GUMBO_TAG_H5, GUMBO_TAG_H6};
  const auto* const found = std::find(std::begin(kHeadings), std::end(kHeadings), tag);
  return found == std::end(kHeadings) ? 0 : static_cast<int>(found - std::begin(kHeadings)) + 1;
}

bool IsLeftOut(Node* node) {
  switch (TagOf(node)) {
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_BUTTON:
      return true;
    default:
      return TagOf(node) != GUMBO_TAG_LAST && AttributeOf(node, "hidden") != nullptr;
  }
}

// Whether text before and after the element is of different blocks.
bool IsBlock(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_HTML:
    case GUMBO_TAG_LEGEND:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_P:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_TBODY:
    case GUMBO_TAG_TD:
    case GUMBO_TAG_TFOOT:
    case GUMBO_TAG_TH:
    case GUMBO_TAG_THEAD:
    case GUMBO_TAG_TR:
    case GUMBO_TAG_UL:
      return true;
    default:
      return false;
  }
}

bool IsForLayout(Node* table) {
  bool found = false;
  Walk(
      table,
      [&](Node* node) {
        found = found || HeadingLevel(TagOf(node)) > 0 ||
                (node != table && TagOf(node) == GUMBO_TAG_TABLE);
        return !found;
      },
      [](Node*) {});
  return found;
}

class PageReader {
 public:
  PageReader() : builder_(&document_) {}

  Document Read(Node* root, std::string_view title) {
    FindTitle(root, title);
    Walk(
        root, [this](Node* node) { return Enter(node); }, [this](Node* node) { Leave(node); });
    builder_.Close();
    std::erase_if(document_.links, [](const Link& link) { return link.span.empty(); });
    std::erase_if(document_.captions, [](Span caption) { return caption.empty(); });
    return std::move(document_);
  }

 private:
  // An element whose text is a block of a kind, or part of such blocks.
  struct Container {
    Node* node;
    Block block;
    size_t begin;
  };

  void FindTitle(Node* root, std::string_view given) {
    Node* head_title = nullptr;
    Node* heading = nullptr;
    size_t headings = 0;
    Walk(
        root,
        [&](Node* node) {
          const GumboTag tag = TagOf(node);
          if (tag == GUMBO_TAG_TITLE && head_title == nullptr) head_title = node;
          if (tag == GUMBO_TAG_H1 && ++headings == 1) heading = node;
          return tag == GUMBO_TAG_HEAD || !IsLeftOut(node);
        },
        [](Node*) {});
    const std::string only_heading = headings == 1 ? TextBelow(heading) : "";
    document_.title = given.empty() ? only_heading : given;
    if (!only_heading.empty() && only_heading == document_.title) title_ = heading;
    if (document_.title.empty() && head_title != nullptr) document_.title = TextBelow(head_title);
  }

  // Whether the element's content is read.
  bool Enter(Node* node) {
    if (IsText(node)) return AddText(node->v.text.text);
    const GumboTag tag = TagOf(node);
    if (tag == GUMBO_TAG_LAST || node == title_ || IsLeftOut(node)) return false;
    if (IsInline()) {
      EnterInline(node);
    } else if (const int level = LevelOf(tag); level > 0) {
      level_ = level;
      OpenBlock(node, {.kind = BlockKind::kHeading, .level = level});
    } else {
      EnterBlock(node, tag);
    }
    if (tag == GUMBO_TAG_BR) builder_.LineBreak();
    if (tag == GUMBO_TAG_A) links_.push_back(builder_.position());
    if (tag == GUMBO_TAG_IMG) AddImage(node);
    return true;
  }

  bool AddText(const char* text) {
    if (preformatted_ > 0) {
      builder_.Preformatted(text);
    } else {
      builder_.Text(text);
    }
    return false;
  }

  // The level of a heading, and of the words that open a part which is folded away.
  int LevelOf(GumboTag tag) const {
    return tag == GUMBO_TAG_SUMMARY ? std::min(level_ + 1, 6) : HeadingLevel(tag);
  }

  // In headings and rows everything is on one line.
  bool IsInline() const { return in_row_ > 0 || in_heading_ > 0; }

  void EnterInline(Node* node) {
    const GumboTag tag = TagOf(node);
    if (in_row_ > 0 && (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH)) {
      builder_.BeginCell();
    } else if (IsBlock(tag) || tag == GUMBO_TAG_LI) {
      builder_.Space();
    }
  }

  void EnterBlock(Node* node, GumboTag tag) {
    switch (tag) {
      case GUMBO_TAG_UL:
      case GUMBO_TAG_OL:
      case GUMBO_TAG_DL:
        if (lists_++ == 0) ++groups_;
        Break();
        break;
      case GUMBO_TAG_LI:
        OpenBlock(node, {.kind = BlockKind::kListItem,
                         .level = static_cast<int>(std::max<size_t>(lists_, 1)),
                         .group = groups_});
        break;
      case GUMBO_TAG_DT:
        OpenBlock(node, {.kind = BlockKind::kTerm, .group = groups_});
        break;
      case GUMBO_TAG_DD:
        OpenBlock(node, {.kind = BlockKind::kDefinition, .group = groups_});
        break;
      case GUMBO_TAG_CAPTION:
      case GUMBO_TAG_FIGCAPTION:
        OpenBlock(node, {.kind = BlockKind::kCaption});
        break;
      case GUMBO_TAG_PRE:
        ++preformatted_;
        OpenBlock(node, {.kind = BlockKind::kCode});
        break;
      case GUMBO_TAG_TABLE:
        ++groups_;
        layout_.push_back(IsForLayout(node));
        Break();
        break;
      case GUMBO_TAG_TR:
        if (!layout_.empty() && !layout_.back()) {
          OpenBlock(node,
                    {.kind = BlockKind::kTableRow, .group = groups_, .header = IsHeader(node)});
          break;
        }
        [[fallthrough]];
      default:
        if (IsBlock(tag)) Break();
    }
  }

  // Whether all cells of a row are headings.
  static bool IsHeader(Node* row) {
    bool any = false;
    const GumboVector& cells = row->v.element.children;
    for (unsigned int i = 0; i < cells.length; ++i) {
      const GumboTag tag = TagOf(static_cast<Node*>(cells.data[i]));
      if (tag == GUMBO_TAG_TD) return false;
      any = any || tag == GUMBO_TAG_TH;
    }
    return any;
  }

  void OpenBlock(Node* node, const Block& block) {
    builder_.Open(block);
    containers_.push_back({node, block, builder_.position()});
    in_row_ += block.kind == BlockKind::kTableRow;
    in_heading_ += block.kind == BlockKind::kHeading;
  }

  // Ends a block; what follows is of the kind of the element that is open.
  void Break() {
    if (containers_.empty()) {
      builder_.Close();
    } else {
      builder_.Open(containers_.back().block);
    }
  }

  void AddImage(Node* node) {
    const char* const text = AttributeOf(node, "alt");
    if (text == nullptr || *text == '\0') return;
    const size_t begin = builder_.position();
    builder_.Space();
    builder_.Text(text);
    document_.captions.push_back(builder_.Since(begin));
    builder_.Space();
  }

  void Leave(Node* node) {
    const GumboTag tag = TagOf(node);
    if (tag == GUMBO_TAG_A) EndLink(node);
    if (!containers_.empty() && containers_.back().node == node) {
      EndContainer(tag);
    } else if (IsInline()) {
      if (in_row_ > 0 && (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH)) {
        builder_.EndCell();
      } else if (IsBlock(tag) || tag == GUMBO_TAG_LI) {
        builder_.Space();
      }
    } else if (IsBlock(tag)) {
      if (tag == GUMBO_TAG_UL || tag == GUMBO_TAG_OL || tag == GUMBO_TAG_DL) --lists_;
      if (tag == GUMBO_TAG_TABLE) layout_.pop_back();
      Break();
    }
  }

  void EndContainer(GumboTag tag) {
    const Container ended = containers_.back();
    containers_.pop_back();
    in_row_ -= ended.block.kind == BlockKind::kTableRow;
    in_heading_ -= ended.block.kind == BlockKind::kHeading;
    preformatted_ -= tag == GUMBO_TAG_PRE;
    Break();
    if (ended.block.kind == BlockKind::kCaption) {
      document_.captions.push_back(builder_.Since(ended.begin));
    }
  }

  void EndLink(Node* node) {
    const size_t begin = links_.back();
    links_.pop_back();
    const char* const target = AttributeOf(node, "href");
    if (target == nullptr || *target == '\0') return;
    document_.links.push_back({.span = builder_.Since(begin), .target = target});
  }

  Document document_;
  TextBuilder builder_;
  Node* title_ = nullptr;  // the heading that is the title
  std::vector<Container> containers_;
  std::vector<size_t> links_;  // where open ones begin
  std::vector<bool> layout_;   // of open tables: whether it is one for layout
  size_t lists_ = 0, groups_ = 0;
  int level_ = 1;  // of the last heading
  int in_row_ = 0, in_heading_ = 0, preformatted_ = 0;
};

}  // namespace

Document ReadHtml(std::string_view html, std::string_view file, const HtmlOptions& options) {
  const HtmlTree tree(html, file, options.has_lines);
  return PageReader().Read(tree.root(), options.title);
}

}  // namespace tandem::documents
