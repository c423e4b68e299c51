// The sections of a page of many runs, and what they share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/page_parts.h"
#include "report/sweep/sweep.h"

namespace tandem::report {

// Lines that a legend lists; more are drawn in grey, which one further line says.
inline constexpr size_t kMostNamed = 10;
// Rows of a table that are in sight; a longer one is folded below its first ones.
inline constexpr size_t kRowsInSight = 12;

// Gives number i of so many lines its colour: five of the palette, then the same five dashed, then
// grey. The legend has the first kMostNamed; the first grey one stands there for all of them, as
// "23 others". `what` is the plural of what a line is: "groups".
void StyleLine(size_t i, size_t of, std::string_view what, Series& series);

// A mean with its interval below it, or that there is one seed alone.
PageCell MeanCell(const GroupMean& mean, size_t runs, bool with_sign = false);

// The interval as a figure draws it; not a number where there is none.
AxisRange IntervalOf(const GroupMean& mean);

// Adds a sentence to the figure's note where intervals are longer than the figure shows.
void SayCutIntervals(Figure& figure);

// The table; of a long one the first rows, and all of them folded below it.
void AddLongTable(const PageTable& table, Page& page);

// "3 runs", "1 run".
std::string Counted(size_t n, std::string_view one, std::string_view several);

// Which runs no mean has, and why.
std::vector<std::string> LeftOutSentences(const Sweep& sweep);
// What the files of runs lack or hold broken, with the file and the reason; runs of one problem in
// one sentence.
std::vector<std::string> ProblemSentences(const Sweep& sweep);

// Of keys that were asked for and do not differ: what they are in all runs.
std::vector<std::string> AlikeSentences(const Sweep& sweep);

void AddSweepSummary(const Sweep& sweep, Page& page);
void AddSweepGroups(const Sweep& sweep, Page& page);
void AddSweepKeys(const Sweep& sweep, Page& page);
void AddSweepGains(const Sweep& sweep, Page& page);
void AddSweepSteps(const Sweep& sweep, Page& page);
void AddSweepModels(const Sweep& sweep, Page& page);
// What the best runs of the first groups saw, where their sampler prunes.
void AddSweepSampling(const Sweep& sweep, Page& page);
void AddSweepRecipes(const Sweep& sweep, Page& page);

}  // namespace tandem::report
