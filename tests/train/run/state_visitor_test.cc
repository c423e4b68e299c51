// One list of members writes a state and reads it.
#include "train/run/state_visitor.h"

#include <gtest/gtest.h>

#include "base/json/json_reader.h"
#include "train/inputs/input_fingerprints.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

struct Part {
  bool flag = false;
  int64_t steps = 0;
  double mean = 0;
  int64_t rare = 0;
  std::optional<double> best;
  std::optional<uint64_t> bytes;
  std::vector<std::pair<int64_t, uint64_t>> blocks;

  void VisitState(StateVisitor visit) {
    visit.Member("flag", flag);
    const StateVisitor inner = visit.Part("inner");
    inner.Member("steps", steps);
    inner.Member("mean", mean);
    inner.Member("blocks", blocks);
    visit.Member("rare", rare, 7, /*kept=*/rare > 0);
    visit.Member("best", best);
    visit.NullableMember("bytes", bytes);
  }
};

Json StateOf(Part part) {
  Json state = Json::object();
  part.VisitState(StateVisitor::Writer(state));
  return state;
}

TEST(StateVisitor, ReadsWhatItWrote) {
  const Json state = StateOf({.flag = true,
                              .steps = int64_t{1} << 60,
                              .mean = 0.1,
                              .rare = 3,
                              .best = -0.5,
                              .bytes = 12,
                              .blocks = {{1, 2}, {3, 4}}});
  EXPECT_EQ(state.Sorted().Dump(),
            R"({"best":-0.5,"bytes":12,"flag":true,"inner":{"blocks":[[1,2],[3,4]],"mean":0.1,)"
            R"("steps":1152921504606846976},"rare":3})");
  Part read;
  read.VisitState(StateVisitor::Reader(state));
  EXPECT_EQ(StateOf(read), state);
}

TEST(StateVisitor, LeavesOutWhatARunDoesNotKeep) {
  const Json state = StateOf({});
  EXPECT_EQ(state.Sorted().Dump(),
            R"({"bytes":null,"flag":false,"inner":{"blocks":[],"mean":0.0,"steps":0}})");
  Part read{.rare = 1, .best = 2.0, .bytes = 3};
  read.VisitState(StateVisitor::Reader(state));
  EXPECT_EQ(read.rare, 7);
  EXPECT_FALSE(read.best.has_value());
  EXPECT_FALSE(read.bytes.has_value());
}

TEST(StateVisitor, AMissingMemberOrOneOfAnotherTypeThrows) {
  for (const char* broken :
       {R"({})", R"({"flag":1,"inner":{},"bytes":null})", R"({"flag":true,"bytes":null})",
        R"({"flag":true,"inner":{"steps":"1","mean":0,"blocks":[]},"bytes":null})",
        R"({"flag":true,"inner":{"steps":1,"mean":0,"blocks":[[1]]},"bytes":null})",
        R"({"flag":true,"inner":{"steps":1,"mean":0,"blocks":[]}})"}) {
    Part read;
    const Json state = ParseJson(broken);
    EXPECT_THROW(read.VisitState(StateVisitor::Reader(state)), JsonError) << broken;
  }
}

// As every earlier version has written them.
TEST(CheckpointFacts, AreReadWhereverACheckpointSaysThem) {
  const CheckpointFacts facts = FactsOf(ParseJson(
      R"({"adapter_fingerprint":3,"base_fingerprint":2,"data_fingerprint":1,"ranks":4,"loop":{)"
      R"("metrics_bytes":5,"best_step":6,"base_value":0.25,"stopped_early":true,"progress":0.5,)"
      R"("progress_before":0.4}})"));
  EXPECT_EQ(facts.inputs.data, 1);
  EXPECT_EQ(facts.inputs.base, 2);
  EXPECT_EQ(facts.inputs.adapter, 3);
  EXPECT_EQ(facts.ranks, 4);
  EXPECT_EQ(facts.metrics_bytes, 5);
  EXPECT_EQ(facts.best_step, 6);
  EXPECT_EQ(facts.base_value, 0.25);
  EXPECT_TRUE(facts.stopped_early);
  EXPECT_EQ(facts.progress, 0.5);
  EXPECT_EQ(facts.progress_before, 0.4);
  const CheckpointFacts none = FactsOf(ParseJson(R"({"step":2})"));
  EXPECT_EQ(none.inputs.data, 0);
  EXPECT_EQ(none.ranks, 1);
  EXPECT_FALSE(none.base_value.has_value());
  EXPECT_FALSE(none.stopped_early);
}

}  // namespace
}  // namespace tandem::train
