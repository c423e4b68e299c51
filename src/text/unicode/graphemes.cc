#include "text/unicode/graphemes.h"

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

bool Extends(GraphemeClass c) {
  using enum GraphemeClass;
  return c == kExtend || c == kZwj || c == kLinker || c == kIndicExtend || c == kSpacing;
}

// Rules GB6 to GB8.
bool JoinsHangul(GraphemeClass left, GraphemeClass right) {
  using enum GraphemeClass;
  switch (left) {
    case kLeading:
      return right == kLeading || right == kVowel || right == kLv || right == kLvt;
    case kLv:
    case kVowel:
      return right == kVowel || right == kTrailing;
    case kLvt:
    case kTrailing:
      return right == kTrailing;
    case kOther:
    case kControl:
    case kExtend:
    case kZwj:
    case kPrepend:
    case kPictograph:
    case kConsonant:
    case kLinker:
    case kIndicExtend:
    case kSpacing:
      break;
  }
  return false;
}

// The state after the characters of a cluster so far, which decides about the next one.
class ClusterState {
 public:
  explicit ClusterState(GraphemeClass first) { Take(first); }

  bool Joins(GraphemeClass next) const {
    using enum GraphemeClass;
    if (last_ == kControl || next == kControl) return false;
    return Extends(next) || last_ == kPrepend || JoinsHangul(last_, next) ||
           (next == kPictograph && joins_pictograph_) ||   // GB11
           (next == kConsonant && consonant_ && linked_);  // GB9c
  }

  void Take(GraphemeClass next) {
    using enum GraphemeClass;
    joins_pictograph_ = pictograph_ && next == kZwj;
    pictograph_ = next == kPictograph ||
                  (pictograph_ && (next == kExtend || next == kLinker || next == kIndicExtend));
    linked_ =
        consonant_ && (next == kLinker || (linked_ && (next == kIndicExtend || next == kZwj)));
    consonant_ = next == kConsonant ||
                 (consonant_ && (next == kLinker || next == kIndicExtend || next == kZwj));
    last_ = next;
  }

 private:
  GraphemeClass last_ = GraphemeClass::kOther;
  bool pictograph_ = false;        // a pictograph, and only extending characters after it
  bool joins_pictograph_ = false;  // besides, a zero width joiner
  bool consonant_ = false;         // an Indic consonant, and only linkers and extending characters
  bool linked_ = false;            // besides, a linker among them
};

}  // namespace

const char* ClusterEnd(const char* p, const char* end) {
  const char32_t first = NextCodePoint(p);
  if (p == end) return p;
  if (first == '\r' && *p == '\n') return p + 1;
  ClusterState state(GraphemeClassOf(first));
  while (p < end) {
    const char* next = p;
    const GraphemeClass own = GraphemeClassOf(NextCodePoint(next));
    if (!state.Joins(own)) break;
    state.Take(own);
    p = next;
  }
  return p;
}

}  // namespace tandem::text
