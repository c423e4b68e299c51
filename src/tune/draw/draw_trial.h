// Draws the configurations of trials that the plan leaves open, from what the trials before showed.
#pragma once

#include <string>
#include <vector>

#include "tune/draw/configuration_points.h"
#include "tune/search_context.h"

namespace tandem::tune {

class TrialDrawer {
 public:
  explicit TrialDrawer(const SearchContext& search) : search_(search) {}

  // Adds the next configuration to the plan, which has one for each trial so far: of those that the
  // plan does not have, or, where it has all, of those that left before their full length, the one
  // of which the trials so far promise most; the first of them where fewer than three trials have a
  // value. Writes the journal's row "draw". False, and no row, where none is left: the others could
  // not be trained.
  bool Draw(SearchPlan& plan);

 private:
  config::Assignment Choose(const SearchPlan& plan, const std::vector<size_t>& rest);
  void ReadCandidates();
  // Indices of candidates that may be drawn.
  std::vector<size_t> Rest(const SearchPlan& plan) const;

  const SearchContext& search_;
  // The whole space as far as it is drawn, in the order in which it is, and its points.
  std::vector<config::Assignment> candidates_;
  std::vector<ConfigurationPoint> points_;
};

// Adds the configurations that the rows "draw" of the journal in `file` have to those of its row
// "plan". Throws ModelError for a row of another form.
void AddDrawn(const Journal& journal, const std::string& file, SearchPlan& plan);

}  // namespace tandem::tune
