#include "documents/html/html_tree.h"

#include <fmt/format.h>
#include <gumbo.h>

#include <cstdlib>

#include "base/error.h"
#include "documents/html/html_nesting.h"

namespace tandem::documents {

// What Gumbo allocates, in a list, so that all of it can be freed without walking the tree: Gumbo's
// own function calls itself for each level.
class HtmlTree::Memory {
 public:
  Memory() { first_.next = first_.previous = &first_; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (Block* block = first_.next; block != &first_;) {
      Block* const next = block->next;
      std::free(block);
      block = next;
    }
  }

  static void* Allocate(void* self, size_t bytes) {
    auto* const block = static_cast<Block*>(std::malloc(sizeof(Block) + bytes));
    if (block == nullptr) return nullptr;
    Block& first = static_cast<Memory*>(self)->first_;
    block->previous = &first;
    block->next = first.next;
    first.next->previous = block;
    first.next = block;
    return block + 1;
  }

  static void Free(void* /*self*/, void* memory) {
    if (memory == nullptr) return;
    Block* const block = static_cast<Block*>(memory) - 1;
    block->previous->next = block->next;
    block->next->previous = block->previous;
    std::free(block);
  }

 private:
  struct alignas(std::max_align_t) Block {
    Block* previous;
    Block* next;
  };
  Block first_;
};

HtmlTree::HtmlTree(std::string_view html, std::string_view file, bool has_lines)
    : memory_(std::make_unique<Memory>()) {
  if (const int64_t line = LineNestedDeeperThan(html); line > 0) {
    throw DataError(file, has_lines ? line : 0, "",
                    fmt::format("elements lie more than {} deep in each other, which no page for "
                                "readers does; take the file out, or make plain text of it",
                                kMostHtmlLevels));
  }
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = &Memory::Allocate;
  options.deallocator = &Memory::Free;
  options.userdata = memory_.get();
  options.max_errors = 0;  // pages are full of them, and each would be kept
  root_ = gumbo_parse_with_options(&options, html.data(), html.size())->root;
}

HtmlTree::~HtmlTree() = default;

const GumboInternalNode* HtmlTree::root() const { return root_; }

}  // namespace tandem::documents
