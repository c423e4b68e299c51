// The sections of a search's page on the models that may be chosen.
#pragma once

#include <string_view>

#include "report/page/page_parts.h"
#include "tune/page/journal_rows.h"
#include "tune/page/tune_page.h"

namespace tandem::tune {

inline constexpr std::string_view kBlankValues =
    "Where a key has no value, the recipe's own holds, or the key does nothing beside the others.";

// "Models that may be chosen": each beside the base, and the means that were tried for a soup.
void AddModels(const TunePageInput& input, const SearchPlan& plan, const Rows& rows,
               report::Page& page);

// "What is lost elsewhere": gain beside loss, and each value on a sentinel set; nothing without
// such sets.
void AddBorder(const TunePageInput& input, const Rows& rows, report::Page& page);

}  // namespace tandem::tune
