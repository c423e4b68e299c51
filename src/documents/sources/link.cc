// The words of a link, and the document that it leads to.
#include <filesystem>

#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kLeastLinkWords = 2;  // fewer say "here", "more", "setup"

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string Unescaped(std::string_view path) {
  std::string bytes;
  for (size_t i = 0; i < path.size(); ++i) {
    const int high = path[i] == '%' && i + 2 < path.size() ? HexDigit(path[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(path[i + 2]) : -1;
    bytes += low >= 0 ? static_cast<char>(16 * high + low) : path[i];
    if (low >= 0) i += 2;
  }
  return bytes;
}

// The file that a link in the document `id` leads to, relative to the folder; "" for none of it.
std::string FileOf(std::string_view id, std::string_view target) {
  target = target.substr(0, target.find_first_of("#?"));
  const size_t colon = target.find(':');
  const bool elsewhere = target.empty() || target.starts_with("//") ||
                         (colon != std::string_view::npos && colon < target.find('/'));
  if (elsewhere) return "";
  const std::filesystem::path file(Unescaped(target));
  const std::filesystem::path from(Unescaped(id));
  const auto resolved = file.is_absolute() ? file.relative_path() : from.parent_path() / file;
  return resolved.lexically_normal().generic_string();
}

void FindLinks(const Document& document, const PairSink& found) {
  for (const Link& link : document.links) {
    const std::string_view words = document.Of(link.span);
    std::string file = FileOf(document.id, link.target);
    if (file.empty() || WordCount(words) < kLeastLinkWords) continue;
    found({.query = std::string(words), .text = "", .linked_file = std::move(file)});
  }
}

}  // namespace

extern const PairSource kLink{
    {.name = "link",
     .summary =
         "the words of a link -> the document of the folder that it leads to, as title has it",
     .source = "anchor texts as queries (Craswell et al. 2001; HARP, Ma et al. 2021)"},
    8,
    FindLinks};

}  // namespace tandem::documents
