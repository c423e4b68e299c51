// The descriptor of every measure; each is defined in the file of its name. The table is in
// measure.cc.
#pragma once

#include "eval/measure.h"

namespace tandem::eval {

extern const MeasureInfo kNdcg;
extern const MeasureInfo kMap;
extern const MeasureInfo kMrr;
extern const MeasureInfo kRecall;
extern const MeasureInfo kPrecision;
extern const MeasureInfo kSuccess;
extern const MeasureInfo kRprec;
extern const MeasureInfo kBpref;
extern const MeasureInfo kAuc;
extern const MeasureInfo kAucPerQuery;

}  // namespace tandem::eval
