#include "documents/masking.h"

#include <algorithm>

#include "documents/passages/sentences.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

// text[body] without the spans; what is left stays apart by white space.
std::string Without(std::string_view text, Span body, std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::string kept;
  size_t at = body.begin;
  const auto keep = [&](size_t end) {
    const Span piece = Trimmed(text, {at, std::max(at, end)});
    if (piece.empty()) return;
    // The white space that stands before the piece, or a blank where nothing does.
    if (!kept.empty()) {
      const std::string_view before = text.substr(at, piece.begin - at);
      const bool line = before.find('\n') != std::string_view::npos;
      kept += line ? (before.find("\n\n") != std::string_view::npos ? "\n\n" : "\n") : " ";
    }
    kept += text.substr(piece.begin, piece.size());
  };
  for (const Span span : spans) {
    if (span.end <= at || span.begin >= body.end) continue;
    keep(std::min(span.begin, body.end));
    at = std::max(at, span.end);
  }
  if (at < body.end) keep(body.end);
  return kept;
}

}  // namespace

BlockRange BlocksIn(const Document& document, Span span) {
  const auto at = [&](size_t begin) {
    const auto found =
        std::partition_point(document.blocks.begin(), document.blocks.end(),
                             [&](const Block& block) { return block.span.begin < begin; });
    return static_cast<size_t>(found - document.blocks.begin());
  };
  return {at(span.begin), at(span.end)};
}

std::string MaskedText(const Document& document, Span body, std::string_view query,
                       std::vector<Span> left_out) {
  const std::vector<uint64_t> words = WordHashes(query);
  if (words.size() >= kGiveawayWords) {
    const auto [first, end] = BlocksIn(document, body);
    for (size_t b = first; b < end; ++b) {
      Span block = document.blocks[b].span;
      block.end = std::min(block.end, body.end);
      for (const Span sentence : SentencesOf(document.text, block)) {
        if (HasRun(WordHashes(document.Of(sentence)), words)) left_out.push_back(sentence);
      }
    }
  }
  return Without(document.text, body, std::move(left_out));
}

Span FirstSentence(const Document& document) {
  for (const Block& block : document.blocks) {
    if (block.kind == BlockKind::kHeading) continue;
    return SentencesOf(document.text, block.span).front();
  }
  return {};
}

std::string RestOf(const Document& document) {
  const Span first = FirstSentence(document);
  if (first.empty()) return "";
  return MaskedText(document, {0, document.text.size()}, document.title, {first});
}

std::string QueryFrom(const Document& document, std::string_view words) {
  constexpr size_t kWordsThatSay = 3;
  if (document.title.empty() || WordCount(words) >= kWordsThatSay) return std::string(words);
  return document.title + ": " + std::string(words);
}

}  // namespace tandem::documents
