#include "data/texts/unique_ids.h"

#include <map>
#include <random>

#include "data/data_test.h"
#include "data/input/input_ids.h"

namespace tandem::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// All pairs of numbers that any table size finds are those that a map finds.
TEST(UniqueIds, FindTheFirstRepetitionWhereverTheIdsAre) {
  const TemporaryFolder folder;
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t in_memory = 1 + random() % 20, count = random() % 100;
    UniqueIds ids(folder.path(), in_memory);
    std::map<std::string, uint64_t> known;
    std::optional<UniqueIds::Repeated> expected, found;
    for (uint64_t place = 0; place < count && !found; ++place) {
      const std::string id = fmt::format("{}", random() % 1000);
      const auto [at, is_new] = known.emplace(id, place);
      if (!is_new && !expected) expected = UniqueIds::Repeated{at->second, place};
      if (const auto earlier = ids.Add(id, place)) found = UniqueIds::Repeated{*earlier, place};
    }
    const auto rest = ids.FindRepeated();
    if (rest && (!found || rest->second < found->second)) found = rest;
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (!found) continue;
    EXPECT_EQ(found->first, expected->first);
    EXPECT_EQ(found->second, expected->second);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(UniqueIds, AFolderThatHoldsNothingIsNamed) {
  UniqueIds ids("/nowhere", 1);
  try {
    ids.Add("a", 0);
    FAIL();
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), StartsWith("/nowhere: cannot hold a file of the ids"));
  }
}

class InputIdsTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::vector<std::string>& lines_of_files, size_t in_memory) {
    TextInputOptions options;
    for (const std::string& lines : lines_of_files) {
      options.inputs.push_back(folder_.path() / fmt::format("{}.jsonl", options.inputs.size()));
      WriteFileAtomically(options.inputs.back(), lines);
    }
    return DataErrorOf([&] {
      Warnings warnings;
      TextInput input(options, warnings);
      InputIds ids(options, folder_.path(), in_memory);
      for (InputText text; input.Next(&text);) ids.Add(input, text);
      ids.Finish(input);
    });
  }
  static std::string Line(const std::string& id) {
    return fmt::format("{{\"_id\": \"{}\", \"text\": \"\"}}\n", id);
  }
  TemporaryFolder folder_;
};

TEST_F(InputIdsTest, BothPlacesAreNamedWhetherFoundAtOnceOrAtTheEnd) {
  for (const size_t in_memory : {1, 2, 100}) {
    EXPECT_THAT(ErrorOf({Line("a") + "\n" + Line("b"), Line("c") + Line("b")}, in_memory),
                HasSubstr(fmt::format("/1.jsonl:2: has the same \"_id\" as {}:3 (id b)",
                                      (folder_.path() / "0.jsonl").native())));
    EXPECT_THAT(ErrorOf({Line("a") + Line("b") + Line("a")}, in_memory),
                HasSubstr("/0.jsonl:3: has the same \"_id\" as line 1 (id a)"));
    EXPECT_EQ(ErrorOf({Line("a") + Line("b"), Line("c")}, in_memory), "no error");
  }
}

}  // namespace
}  // namespace tandem::data
