// The page of a search: the verdict, every trial, the border of gain and loss, the recipe to copy.
#pragma once

#include <string>
#include <vector>

#include "report/page/page.h"
#include "tune/search_context.h"

namespace tandem::tune {

// What the page shows besides the journal.
struct TunePageInput {
  std::string title;
  std::string measure;  // "ndcg@10"
  int64_t rungs = 3;
  std::vector<config::SearchKey> keys;
  std::string recipe_text;  // of the choice; "": there is none
};

// tune.html first, then the files of its figures. The same journal gives the same bytes.
std::vector<report::ReportFile> MakeTunePage(const TunePageInput& input, const SearchPlan& plan,
                                             const std::vector<Json>& journal);

// Writes the page and its figures into the search's folder, each file complete or not at all.
void WriteTunePage(const SearchContext& search, const SearchPlan& plan);

}  // namespace tandem::tune
