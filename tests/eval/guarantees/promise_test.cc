#include "eval/guarantees/promise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::eval {
namespace {

std::string ErrorOfPromise(const std::string& text) {
  try {
    ParsePromise(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Promise, ReadsWhatItWrites) {
  for (const char* text : {"recall=0.9", "precision=0.9@0.95", "precision=0.75@0.8",
                           "no-answer=0.05", "recall=0.999"}) {
    EXPECT_EQ(ParsePromise(text).Name(), text);
  }
  EXPECT_EQ(ParsePromise("precision=0.9").Name(), "precision=0.9@0.95");
  EXPECT_EQ(ParsePromise("recall=0.90"), ParsePromise("recall=0.9"));
}

TEST(Promise, SeveralAreSeparatedByCommas) {
  EXPECT_EQ(ParsePromises("recall=0.9,precision=0.8@0.9,recall=0.8"),
            (std::vector{ParsePromise("recall=0.9"), ParsePromise("precision=0.8@0.9"),
                         ParsePromise("recall=0.8")}));
  EXPECT_EQ(ParsePromises("recall=0.9").size(), 1U);
  for (const char* text : {"", ",", "recall=0.9,", ",recall=0.9", "recall=0.9,,recall=0.8"}) {
    EXPECT_THROW(ParsePromises(text), UsageError) << text;
  }
}

TEST(Promise, AllowsARoundRisk) {
  EXPECT_EQ(ParsePromise("recall=0.9").risk(), 0.1);
  EXPECT_EQ(ParsePromise("precision=0.95").risk(), 0.05);
  EXPECT_EQ(ParsePromise("no-answer=0.05").risk(), 0.05);
}

TEST(Promise, SaysWhatItPromises) {
  EXPECT_EQ(ParsePromise("recall=0.9").Sentence(),
            "answers keep at least 90 % of what is relevant, on average over queries");
  EXPECT_EQ(ParsePromise("precision=0.9@0.95").Sentence(),
            "at most 10 % of what a query is shown is wrong, on average over queries, with 95 % "
            "confidence");
  EXPECT_EQ(ParsePromise("no-answer=0.005").Sentence(),
            "of queries that have no answer at most 0.5 % get one");
}

TEST(Promise, NobodyPromisesEverything) {
  for (const char* text :
       {"recall=1", "recall=1.0", "precision=1", "no-answer=1", "precision=0.9@1"}) {
    EXPECT_THAT(ErrorOfPromise(text), testing::HasSubstr("100 %")) << text;
  }
}

TEST(Promise, RefusesWhatIsNone) {
  for (const char* text :
       {"", "recall", "recall=", "recall=x", "recall=0.9x", "recall=0", "recall=-1", "recall=nan",
        "recall=90", "no-answer=0", "fpr=0.1", "precision=0.9@", "precision=@0.9",
        "precision=0.9@0.9@0.9", "recall=0.9@0.95", "no-answer=0.05@0.9"}) {
    EXPECT_THAT(ErrorOfPromise(text), testing::StartsWith("guarantee ")) << text;
  }
}

TEST(Promise, RefusesWhatRoundingWouldDecide) {
  for (const char* text : {"recall=1e-10", "recall=0.9999999999", "precision=0.9999999999",
                           "precision=0.9@0.9999999999", "no-answer=1e-300"}) {
    EXPECT_THAT(ErrorOfPromise(text), testing::HasSubstr("the rounding of sums decides")) << text;
  }
  for (const char* text : {"recall=1e-08", "recall=0.99999999", "precision=0.9@0.99999999"}) {
    EXPECT_EQ(ErrorOfPromise(text), "") << text;
  }
}

TEST(Promise, IsKeptRatherThanBroken) {
  EXPECT_THAT(ErrorOfPromise("precision=0.9@0.499"),
              testing::HasSubstr("a confidence of 0.499 is of a promise that may be broken more "
                                 "often than it is kept; expected 0.5 or more, such as 0.95"));
  EXPECT_EQ(ErrorOfPromise("precision=0.9@0.5"), "");
}

// The smallest n of each condition, by counting up.
TEST(Promise, NeedsThisManyQueries) {
  for (const char* text : {"recall=0.9", "recall=0.8", "recall=0.95", "recall=0.99", "recall=0.3",
                           "no-answer=0.05", "no-answer=0.3"}) {
    const Promise promise = ParsePromise(text);
    size_t n = 1;
    while (1.0 / static_cast<double>(n + 1) > promise.risk() + 1e-12) ++n;
    EXPECT_EQ(FewestQueries(promise), n) << text;
  }
  for (const char* text :
       {"precision=0.9", "precision=0.9@0.9", "precision=0.5@0.75", "precision=0.99@0.99"}) {
    const Promise promise = ParsePromise(text);
    size_t n = 1;
    while (std::pow(1 - promise.risk(), n) > 1 - promise.confidence + 1e-12) ++n;
    EXPECT_EQ(FewestQueries(promise), n) << text;
  }
  EXPECT_EQ(FewestQueries(ParsePromise("recall=0.9")), 9U);
  EXPECT_EQ(FewestQueries(ParsePromise("precision=0.9@0.95")), 29U);
  EXPECT_EQ(FewestQueries(ParsePromise("no-answer=0.05")), 19U);
}

}  // namespace
}  // namespace tandem::eval
