#include "documents/passages/passages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "documents/passages/sentences.h"

namespace tandem::documents {
namespace {

// The ends of the words of text[span], each with the white space after it, ascending.
std::vector<size_t> WordEnds(std::string_view text, Span span) {
  std::vector<size_t> ends;
  for (size_t i = span.begin; i < span.end; ++i) {
    if (IsWhiteSpace(text[i]) && (i + 1 == span.end || !IsWhiteSpace(text[i + 1])))
      ends.push_back(i + 1);
  }
  if (ends.empty() || ends.back() != span.end) ends.push_back(span.end);
  return ends;
}

std::vector<size_t> CharacterEnds(std::string_view text, Span span) {
  std::vector<size_t> ends;
  for (size_t i = span.begin; i < span.end;) {
    const int length = CharacterLength(text.substr(i, span.end - i));
    i += static_cast<size_t>(length < 0 ? -length : length);
    ends.push_back(i);
  }
  return ends;
}

// A sentence with the white space after it, or what is left of one; they make the whole text.
struct Unit {
  Span span;
  size_t tokens = 0;  // by itself; of units side by side the sum is an estimate
  bool heading = false;
};

// Cuts one document.
class Cutting {
 public:
  Cutting(const Document& document, std::string title, const PassageOptions& options,
          const TokenCount& count, size_t fixed)
      : text_(document.text),
        title_(std::move(title)),
        options_(options),
        count_(count),
        fixed_(fixed),
        room_(options.most_tokens - Tokens({0, 0})) {
    MakeUnits(document);
  }

  std::vector<Passage> Run() {
    for (size_t first = 0; first < units_.size();) {
      size_t from = OverlapBefore(first);
      size_t end = EndFrom(from, first);
      if (end == first && from != first) end = EndFrom(from = first, first);
      if (end == first) {
        Split(first, units_[first].span.begin);
        end = first + 1;
      }
      passages_.push_back({.span = SpanOf(from, end), .own = units_[first].span.begin});
      first = end;
    }
    return std::move(passages_);
  }

 private:
  // Tokens of a passage, with everything.
  size_t Tokens(Span span) const {
    span = Trimmed(text_, span);
    std::string whole = title_;
    if (!whole.empty()) whole += ' ';
    return count_(whole.append(text_.substr(span.begin, span.size())));
  }
  bool Fits(Span span) const { return Tokens(span) <= options_.most_tokens; }

  void MakeUnits(const Document& document) {
    const std::vector<Span> sentences = SentencesOf(document);
    for (size_t i = 0; i < sentences.size(); ++i) {
      const size_t begin = i == 0 ? 0 : sentences[i].begin;
      const size_t end = i + 1 < sentences.size() ? sentences[i + 1].begin : text_.size();
      units_.push_back({.span = {begin, end}});
    }
    if (units_.empty()) units_.push_back({.span = {0, text_.size()}});
    for (const Block& block : document.blocks) {
      if (block.kind != BlockKind::kHeading) continue;
      const auto at = std::partition_point(units_.begin(), units_.end(), [&](const Unit& unit) {
        return unit.span.end <= block.span.begin;
      });
      at->heading = true;
    }
    for (Unit& unit : units_) Count(&unit);
  }

  void Count(Unit* unit) const {
    const Span span = Trimmed(text_, unit->span);
    const size_t tokens = count_(text_.substr(span.begin, span.size()));
    unit->tokens = tokens - std::min(tokens, fixed_);
  }

  Span SpanOf(size_t first, size_t end) const {
    return {units_[first].span.begin, units_[end - 1].span.end};
  }

  // The estimated tokens of the section that the heading `unit` begins, as far as the next heading;
  // counting stops above `most`.
  size_t SectionTokens(size_t unit, size_t most) const {
    size_t tokens = units_[unit].tokens;
    for (size_t i = unit + 1; i < units_.size() && !units_[i].heading && tokens <= most; ++i) {
      tokens += units_[i].tokens;
    }
    return tokens;
  }

  // The first of the units before `first`, of its section, that a passage repeats.
  size_t OverlapBefore(size_t first) const {
    if (units_[first].heading) return first;
    size_t from = first, tokens = 0;
    while (from > 0 && !units_[from - 1].heading &&
           tokens + units_[from - 1].tokens <= options_.overlap) {
      tokens += units_[--from].tokens;
    }
    return from;
  }

  // The end of the passage of the units from `from` on, whose own ones are from `first` on; `first`
  // where that one does not fit.
  size_t EndFrom(size_t from, size_t first) {
    size_t end = first, tokens = 0;
    for (size_t i = from; i < first; ++i) tokens += units_[i].tokens;
    while (end < units_.size() && tokens + units_[end].tokens <= room_) {
      const bool begins_section = units_[end].heading && end > first && !units_[end - 1].heading;
      if (begins_section && 2 * tokens >= room_ && tokens + SectionTokens(end, room_) > room_)
        break;
      tokens += units_[end++].tokens;
    }
    while (end > first && !Fits(SpanOf(from, end))) --end;
    if (end == first || end == units_.size()) return end;
    size_t without_headings = end;
    while (without_headings > first && units_[without_headings - 1].heading) --without_headings;
    if (without_headings > first) return without_headings;
    // Nothing but headings: a part of the long sentence below them follows.
    return Split(end, units_[from].span.begin) ? end + 1 : end;
  }

  // Makes two units of one that does not fit into a passage that begins at `begin`. False where not
  // even a word fits there, or where the unit begins and a character does.
  bool Split(size_t unit, size_t begin) {
    const Span span = units_[unit].span;
    // A sentence is looked at as far as a passage may go. A token is shorter nearly always.
    constexpr size_t kBytesPerToken = 32;
    Span seen{span.begin, std::min(span.end, span.begin + kBytesPerToken * options_.most_tokens)};
    while (seen.end < span.end && (static_cast<unsigned char>(text_[seen.end]) & 0xC0) == 0x80) {
      --seen.end;
    }
    size_t cut = LongestFitting(begin, WordEnds(text_, seen), span.begin);
    if (cut == span.begin) {
      if (begin != span.begin) return false;
      const std::vector<size_t> ends = CharacterEnds(text_, seen);
      cut = std::max(LongestFitting(begin, ends, span.begin), ends.front());
    }
    if (cut == span.end) return true;
    Unit rest{.span = {cut, span.end}, .tokens = std::max<size_t>(1, units_[unit].tokens)};
    units_[unit].span.end = cut;
    Count(&units_[unit]);
    rest.tokens -= std::min(rest.tokens - 1, units_[unit].tokens);
    units_.insert(units_.begin() + static_cast<std::ptrdiff_t>(unit) + 1, rest);
    return true;
  }

  // The last of `ends` for which [begin, end) fits; `none` where none does.
  size_t LongestFitting(size_t begin, const std::vector<size_t>& ends, size_t none) const {
    auto best = std::partition_point(ends.begin(), ends.end(), [&](size_t end) {
      return Fits({begin, end});
    });
    // A longer text has more tokens nearly always; what was found is looked at itself.
    while (best != ends.begin() && !Fits({begin, *std::prev(best)})) --best;
    return best == ends.begin() ? none : *std::prev(best);
  }

  std::string_view text_;
  std::string title_;
  const PassageOptions& options_;
  const TokenCount& count_;
  size_t fixed_;
  size_t room_;              // tokens beside title, special tokens and prompt
  std::vector<Unit> units_;  // at least one
  std::vector<Passage> passages_;
};

}  // namespace

PassageCutter::PassageCutter(const PassageOptions& options, TokenCount count)
    : options_(options), count_(std::move(count)), fixed_(count_("")) {
  if (options_.most_tokens < fixed_ + kLeastPassageTokens) {
    throw UsageError(fmt::format(
        "--passage-tokens is {}, of which special tokens and the prompt take {}; give at least {}",
        options_.most_tokens, fixed_, fixed_ + kLeastPassageTokens));
  }
  if (2 * options_.overlap > options_.most_tokens - fixed_) {
    throw UsageError(fmt::format(
        "--passage-overlap is {}; expected at most {}, half of what a passage has room for",
        options_.overlap, (options_.most_tokens - fixed_) / 2));
  }
}

std::string PassageCutter::TitleOf(const Document& document) const {
  const size_t most = fixed_ + (options_.most_tokens - fixed_) / 4;
  if (count_(document.title) <= most) return document.title;
  const std::vector<size_t> ends = WordEnds(document.title, {0, document.title.size()});
  const auto prefix = [&](size_t end) {
    const Span span = Trimmed(document.title, {0, end});
    return document.title.substr(span.begin, span.size());
  };
  for (size_t i = ends.size(); i-- > 0;) {
    if (count_(prefix(ends[i])) <= most) return prefix(ends[i]);
  }
  return "";
}

std::vector<Passage> PassageCutter::Cut(const Document& document) const {
  return Cutting(document, TitleOf(document), options_, count_, fixed_).Run();
}

}  // namespace tandem::documents
