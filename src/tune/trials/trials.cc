#include "tune/trials/trials.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "eval/significance/significance.h"
#include "tune/draw/draw_trial.h"
#include "tune/query_values.h"
#include "tune/trials/base_validations.h"
#include "tune/trials/quiet_sink.h"
#include "tune/trials/trial.h"

namespace tandem::tune {
namespace {

// The paired test of a trial's values against the base's; the gain is their mean difference.
double ProbabilityOf(const QueryValues& base, const QueryValues& values, uint64_t seed) {
  std::vector<double> differences;
  for (size_t i = 0; i < base.size() && i < values.size(); ++i) {
    differences.push_back(values[i].value - base[i].value);
  }
  return eval::SignFlipTest(differences, {.seed = seed}).p_value;
}

Json RungRow(const SearchContext& search, const Work& work) {
  const Json state = TrialState(search.folder, work.trial);
  const QueryValues base = ReadQueryValues(search.folder.base_values());
  const QueryValues values =
      ReadQueryValues(search.folder.TrialValues(work.trial, state.at("best_step").get<int64_t>()));
  Json row = {{"event", "rung"},
              {"trial", work.trial},
              {"bracket", static_cast<int64_t>(work.bracket) + 1},
              {"round", static_cast<int64_t>(work.round)}};
  for (const JsonMember& member : state.items()) row.Append(member.key, member.value);
  row["gain"] = MeanOf(values) - MeanOf(base);
  row["p"] = ProbabilityOf(base, values, static_cast<uint64_t>(search.measurer.recipe().seed));
  return row;
}

Json FailedRow(const Work& work, const std::string& why) {
  return {{"event", "failed"},
          {"trial", work.trial},
          {"bracket", static_cast<int64_t>(work.bracket) + 1},
          {"round", static_cast<int64_t>(work.round)},
          {"why", why}};
}

// Says whether another configuration may do better than one that has failed so; of an error of
// another process that process says it.
bool IsOfTheConfiguration(const Error& error) {
  if (dynamic_cast<const dist::OtherFailed*>(&error) != nullptr) return true;
  if (dynamic_cast<const OutputError*>(&error) != nullptr) return false;  // a full disk
  return error.exit_code() == ExitCode::kUsage || error.exit_code() == ExitCode::kDiverged ||
         dynamic_cast<const DataError*>(&error) != nullptr;
}

// Trains a trial to its length; returns why it cannot be trained, "" where it could.
std::string TrainOrSay(const SearchContext& search, const SearchPlan& plan, const Work& work) {
  const Bracket& bracket = plan.brackets[work.bracket];
  const double share = static_cast<double>(bracket.rungs[work.round].units) /
                       static_cast<double>(FullUnits(search.tune.tune.rungs));
  try {
    const QuietSink quiet(search.warned);
    TrainTrial(TrialRecipe(search.tune, search.folder, work.trial,
                           plan.configurations[static_cast<size_t>(work.trial) - 1]),
               search.folder,
               {.trial = work.trial,
                .share = share,
                .version = search.options.version,
                .stop = search.options.stop,
                .group = search.options.group,
                .ignore_limits = search.options.ignore_limits,
                .bases = KnownBases(search, plan, work.trial),
                .tokens = &search.tokens});
    return "";
  } catch (const Error& error) {
    // The recipe as it is, which is the first trial, must be trainable.
    const bool may_fail = work.trial > 1 && IsOfTheConfiguration(error);
    if (!search.group().RecoverTogether(may_fail)) throw;
    return error.what();
  }
}

void RemoveCheckpoints(const SearchContext& search, const SearchPlan& plan) {
  if (!search.leads()) return;
  for (const int64_t trial : LeftTrials(plan.brackets, ResultsOf(search.journal))) {
    std::error_code error;  // what cannot be removed only takes room
    std::filesystem::remove_all(search.folder.TrialRun(trial) / "checkpoints", error);
  }
}

void TellOf(const SearchContext& search, const SearchPlan& plan, const Work& work,
            const Json& row) {
  const std::string values =
      AssignmentText(plan.configurations[static_cast<size_t>(work.trial) - 1]);
  if (row.contains("why")) {
    Warn(fmt::format("trial {} ({}) cannot be trained and is last: {}", work.trial, values,
                     row.at("why").text()));
    return;
  }
  const Rung& rung = plan.brackets[work.bracket].rungs[work.round];
  Note(fmt::format("trial {}, {}/{} of its length: {} {:.4f} ({:+.4f}); {}", work.trial, rung.units,
                   FullUnits(search.tune.tune.rungs), search.measure(),
                   row.at("value").get<double>(), row.at("gain").get<double>(), values));
}

}  // namespace

std::vector<RungResult> ResultsOf(const Journal& journal) {
  std::vector<RungResult> results;
  for (const Json& row : journal.rows()) {
    const std::string& event = row.at("event").text();
    if (event != "rung" && event != "failed") continue;
    RungResult result{.trial = row.at("trial").get<int64_t>(),
                      .round = row.at("round").get<size_t>()};
    if (event == "rung") result.value = row.at("value").get<double>();
    results.push_back(result);
  }
  return results;
}

void TrainTrials(const SearchContext& search, SearchPlan& plan) {
  RemoveCheckpoints(search, plan);
  TrialDrawer drawer(search);
  while (const std::optional<Work> work = NextWork(plan.brackets, ResultsOf(search.journal))) {
    if (const int signal = StopSignal(search.options.stop)) {
      throw Interrupted(signal, "interrupted; continue with --resume");
    }
    const bool open = work->trial > static_cast<int64_t>(plan.configurations.size());
    if (open && !drawer.Draw(plan)) break;
    const std::string why = TrainOrSay(search, plan, *work);
    const Json& row = search.journal.Append(
        [&] { return why.empty() ? RungRow(search, *work) : FailedRow(*work, why); });
    TellOf(search, plan, *work, row);
    RemoveCheckpoints(search, plan);
  }
}

}  // namespace tandem::tune
