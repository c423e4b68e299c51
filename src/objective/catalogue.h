// The catalogue of objectives: their descriptors. The table is written from CMakeLists.txt.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "config/catalogue.h"
#include "config/params.h"
#include "objective/formula.h"

namespace tandem::objective {

// Says what an objective asks of a batch besides scores and paired documents.
struct Needs {
  bool grades = false;             // Labels::labelled with grades
  bool teacher = false;            // Labels::labelled with teacher scores
  bool query_query = false;        // same-tower scores and their mask
  bool document_document = false;  // same-tower scores and their mask
  bool graded_own = false;         // paired documents may have any grade; else they are positives
  bool negatives = true;           // without an allowed negative a batch teaches nothing
  bool separable_by_row = true;    // the loss is a mean over queries of what each row says alone
};

// The values that an objective learns or keeps between batches. `train` owns them and passes them
// in as `States`.
struct StatePlan {
  bool logistic = false;  // has a scale and a bias
  bool learn_scale = false;
  bool learn_bias = false;
  double scale = 1;            // its value at the start, and always where it is not learned
  std::optional<double> bias;  // likewise; none: Objective::StartingBias of the first batch
  double learning_rate_factor = 1;

  int64_t bank = 0;          // scores kept of each kind, positive and negative; 0: none
  int64_t bank_max_age = 0;  // steps after which a kept score is dropped; 0: never

  bool any() const { return logistic || bank > 0; }
};

struct ObjectiveInfo : config::EntryInfo {
  std::string_view purpose;  // a sentence or two: when to take it
  std::string_view formula;  // a few lines of plain text, its symbols explained
  Needs (*needs)(const config::Params& params);
  std::unique_ptr<const Formula> (*make)(const config::Params& params);
  StatePlan (*states)(const config::Params& params) = nullptr;  // null: it has none

  StatePlan StatesOf(const config::Params& params_given) const {
    return states == nullptr ? StatePlan() : states(params_given);
  }
};

// ObjectiveInfo::make for a formula whose constructor takes the parameters.
template <typename T>
std::unique_ptr<const Formula> MakeFormula(const config::Params& params) {
  return std::make_unique<T>(params);
}

// Every objective, in the order of docs and `tandem list objectives`.
std::span<const ObjectiveInfo* const> Objectives();
// The catalogue of objectives for recipes, `tandem list` and `tandem explain`.
config::Catalogue ObjectiveCatalogue();

// Throws UsageError naming the known objectives and the nearest of them.
const ObjectiveInfo& FindObjective(std::string_view name);

// Code asks for these by name; each is defined in its own file, as are all others.
extern const ObjectiveInfo kInfoNce;
extern const ObjectiveInfo kMannWhitney;
extern const ObjectiveInfo kBixse;
extern const ObjectiveInfo kPairwiseBce;
extern const ObjectiveInfo kLambdaLoss;

}  // namespace tandem::objective
