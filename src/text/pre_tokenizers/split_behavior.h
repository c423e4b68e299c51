// How the parts of a text are treated that a pre-tokenizer matched, and those between them.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/pre_tokenizers/words.h"

namespace tandem::text {

// "the-end--" where each "-" is a match:
enum class SplitBehavior {
  kIsolated,            // the | - | end | - | -
  kRemoved,             // the | end
  kMergedWithPrevious,  // the- | end- | -
  kMergedWithNext,      // the | -end | - | -
  kContiguous,          // the | - | end | --
};

// Takes the matches in a text, in order, and adds the words that they make.
class SplitWords {
 public:
  // `invert`: the parts between matches count as matches, and the matches do not.
  SplitWords(std::string_view text, SplitBehavior behavior, bool invert, Words* words)
      : text_(text), behavior_(behavior), invert_(invert), words_(words) {}

  // Handles a match from byte `begin`, which is not before the last match's end, to `end`.
  void Match(size_t begin, size_t end) {
    if (done_ < begin) Part(done_, begin, invert_);
    Part(begin, end, !invert_);
    done_ = end;
  }
  void Finish() {
    if (done_ < text_.size()) Part(done_, text_.size(), invert_);
    Add(begin_, end_);
  }

 private:
  void Add(size_t begin, size_t end) {
    if (begin < end) words_->Add(text_.data() + begin, text_.data() + end);
  }
  void Part(size_t begin, size_t end, bool match) {
    if (behavior_ == SplitBehavior::kIsolated) {
      Add(begin, end);
    } else if (behavior_ != SplitBehavior::kRemoved) {
      Join(begin, end, match);
    } else if (!match) {
      Add(begin, end);
    }
  }
  // Keeps back one word, which the next part may become a part of.
  void Join(size_t begin, size_t end, bool match);

  std::string_view text_;
  SplitBehavior behavior_;
  bool invert_;
  Words* words_;
  size_t done_ = 0;             // the end of the last match
  size_t begin_ = 0, end_ = 0;  // the word kept back
  bool any_ = false;            // whether there is one
  bool matched_ = false;        // whether the last part was a match
};

}  // namespace tandem::text
