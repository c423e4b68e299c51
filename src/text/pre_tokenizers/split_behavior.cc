#include "text/pre_tokenizers/split_behavior.h"

namespace tandem::text {

void SplitWords::Join(size_t begin, size_t end, bool match) {
  bool joins = false;
  if (behavior_ == SplitBehavior::kContiguous) joins = match == matched_;
  if (behavior_ == SplitBehavior::kMergedWithPrevious) joins = match && !matched_;
  if (behavior_ == SplitBehavior::kMergedWithNext) joins = !match && matched_;
  if (!any_ || !joins) {
    Add(begin_, end_);
    begin_ = begin;
  }
  end_ = end;
  any_ = true;
  matched_ = match;
}

}  // namespace tandem::text
