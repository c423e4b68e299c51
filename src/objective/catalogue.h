// The catalogue of objectives: torch-free descriptors, one line each in catalogue.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "config/catalogue.h"
#include "config/params.h"
#include "objective/formula.h"

namespace tandem::objective {

// What an objective asks of a batch besides scores, own documents and negatives.
struct Needs {
  bool grades = false;             // Labels::grades, Labels::labelled
  bool teacher = false;            // Labels::teacher, Labels::labelled
  bool query_query = false;        // same-tower scores and their mask
  bool document_document = false;  // same-tower scores and their mask
  bool graded_own = false;         // own documents may have any grade; else they are positives
  bool separable_by_row = true;    // the loss is a mean over queries of what each row says alone
};

struct ObjectiveInfo : config::EntryInfo {
  Needs (*needs)(const config::Params& params);
  std::unique_ptr<const Formula> (*make)(const config::Params& params);
};

std::span<const ObjectiveInfo* const> Objectives();
// The same as entries, for recipes and `tandem list`.
std::span<const config::EntryInfo* const> ObjectiveEntries();

// Throws UsageError naming the known objectives and the nearest of them.
const ObjectiveInfo& FindObjective(std::string_view name);

// Each is defined in its own file.
extern const ObjectiveInfo kInfoNce;
extern const ObjectiveInfo kMannWhitney;

}  // namespace tandem::objective
