// Which runs count: logs that contradict themselves do not.
#include "report/sweep/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Three validations, the one at step 20 the best.
RunRecord Finished() {
  RunRecord run{.name = "a/seed-1", .keys = {{"seed", {"1", 1}}}};
  for (const auto& [step, value] : {std::pair(0, 0.4), std::pair(20, 0.6), std::pair(40, 0.5)}) {
    run.log.validations.push_back(
        {.step = step, .measures = {{"ndcg@10", value}}, .best = step < 40});
  }
  run.log.step = 40;
  run.log.finished = FinishedRow{.step = 40, .model_step = 20, .best = {{"ndcg@10", 0.6}}};
  run.log.finished_line = 9;
  return run;
}

std::string FaultOf(const RunRecord& run) {
  EXPECT_EQ(StateOf(run), LogFault(run) ? RunState::kBroken : RunState::kFinished);
  return LogFault(run).value_or("");
}

TEST(RunState, ALogThatAgreesWithItsEndIsFinished) { EXPECT_EQ(FaultOf(Finished()), ""); }

TEST(RunState, ABestValidationThatWasLostIsAFault) {
  RunRecord run = Finished();
  run.log.validations.erase(run.log.validations.begin() + 1);
  EXPECT_THAT(FaultOf(run), StartsWith("a/seed-1/metrics.jsonl:9: finished.model_step is 20, and "
                                       "the best validation that is there is of step 0; "));
  EXPECT_THAT(FaultOf(run), HasSubstr("copy it again"));
  run.log.validations.clear();
  EXPECT_THAT(FaultOf(run), HasSubstr("finished.best_ndcg@10 is 0.6 at step 20, and no best "
                                      "validation of that step is there"));
}

TEST(RunState, ABestValueThatIsAnotherIsAFault) {
  RunRecord run = Finished();
  run.log.validations[1].measures[0].value = 0.61;
  EXPECT_THAT(FaultOf(run), HasSubstr("finished.best_ndcg@10 is 0.6 at step 20, and the validation "
                                      "there has 0.61"));
}

TEST(RunState, RowsAfterTheEndAreAFault) {
  RunRecord run = Finished();
  run.log.step = 50;
  EXPECT_THAT(FaultOf(run), HasSubstr("finished.step is 40, and a row is of step 50"));
}

TEST(RunState, ALogOfOtherBytesIsBrokenAndAnEmptyOneHasNotFinished) {
  RunRecord run{.name = "a", .keys = {{"seed", {"1", 1}}}};
  EXPECT_EQ(StateOf(run), RunState::kUnfinished);
  run.log.unreadable_lines = 3;
  run.log.first_unreadable = 1;
  EXPECT_THAT(FaultOf(run), StartsWith("a/metrics.jsonl:1: no line of it is a row"));
}

}  // namespace
}  // namespace tandem::report
