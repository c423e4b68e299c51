#include "train/observers/time_left.h"

#include <algorithm>

namespace tandem::train {

std::optional<double> TimeLeft::At(double now, const Work& work) const {
  const double done = work.done - first_;
  if (done <= 0) return std::nullopt;
  const double running = began_ ? now - *began_ : 0;
  const double unit = std::max(0.0, now - start_ - validating_ - running) / done;
  double left = unit * (work.total - work.done);
  // The first validation under way says by its share how long all of it takes.
  constexpr double kEnoughShare = 0.05;
  std::optional<double> validation = validation_;
  if (began_ && !validation && work.share >= kEnoughShare) validation = running / work.share;
  if (!validation) return left;
  left += *validation * static_cast<double>(work.validations);
  if (began_) left += *validation * (1 - work.share);
  return left;
}

}  // namespace tandem::train
