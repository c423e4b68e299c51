#include "config/param.h"

#include <gtest/gtest.h>

#include <cmath>

#include "config/params.h"
#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

constexpr ParamInfo kNumber = Number("x", "units", "a number", 1, {0, 2});
constexpr ParamInfo kInteger = Integer("n", "things", "an integer", 1, {1, 5});

TEST(CheckValue, TakesAnIntegerForANumberAndNothingElse) {
  EXPECT_EQ(std::get<double>(CheckValue(kNumber, int64_t{2}).value), 2.0);
  EXPECT_EQ(CheckValue(kNumber, std::string("2")).problem, "must be a number, found string \"2\"");
  EXPECT_EQ(CheckValue(kNumber, true).problem, "must be a number, found boolean true");
  EXPECT_EQ(CheckValue(kInteger, 2.0).problem, "must be an integer, found number 2.0");
}

TEST(CheckValue, NamesTheRangeAndTheUnit) {
  EXPECT_EQ(CheckValue(kNumber, 2.0).problem, "");
  EXPECT_EQ(CheckValue(kNumber, 2.5).problem, "must be from 0 to 2 units, found 2.5");
  EXPECT_EQ(CheckValue(kInteger, int64_t{0}).problem, "must be from 1 to 5 things, found 0");
}

TEST(CheckValue, RefusesWhatIsNotFinite) {
  EXPECT_EQ(CheckValue(kNumber, std::nan("")).problem, "must be finite, found number nan");
  EXPECT_EQ(CheckValue(Number("x", "", "", 0, {}), HUGE_VAL).problem,
            "must be finite, found number inf");
}

TEST(CheckValue, SuggestsTheNearestChoice) {
  const ParamInfo choice = Choice("shape", "", "round", kTestShapes);
  EXPECT_EQ(CheckValue(choice, std::string("square")).problem, "");
  EXPECT_EQ(CheckValue(choice, std::string("sqare")).problem,
            "must be one of round, square, found \"sqare\"; did you mean square?");
}

TEST(FormatValue, QuotesAsTomlDoes) {
  EXPECT_EQ(FormatValue(std::string("a\"b\\c\n\x01")), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(FormatValue(1.0), "1.0");
  EXPECT_EQ(FormatValue(2e-5), "2e-05");
  EXPECT_EQ(FormatValue(0.1), "0.1");
}

TEST(Params, HoldDefaultsUntilSet) {
  Params params(kTestParams);
  EXPECT_EQ(params.Number("temperature"), 0.02);
  EXPECT_EQ(params.OptionalNumber("bias"), std::nullopt);
  EXPECT_EQ(params.Integer("count"), 3);
  EXPECT_TRUE(params.Boolean("strict"));
  EXPECT_EQ(params.String("shape"), "round");
  EXPECT_EQ(params.Set("bias", int64_t{-10}), "");
  EXPECT_EQ(params.OptionalNumber("bias"), -10.0);
  EXPECT_NE(params.Set("count", int64_t{10}), "");
  EXPECT_EQ(params.Integer("count"), 3);
}

TEST(Params, AskingForWhatIsNotThereIsABug) {
  const Params params(kTestParams);
  EXPECT_THROW(params.Number("tau"), std::logic_error);
  EXPECT_THROW(params.Integer("temperature"), std::logic_error);
  EXPECT_FALSE(params.Knows("tau"));
  EXPECT_TRUE(params.Knows("bias"));
}

}  // namespace
}  // namespace tandem::config
