#include "embeddings/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tandem::embeddings {
namespace {

using testing::HasSubstr;

std::string ProblemOf(const Provenance& was, const Provenance& wanted, Sameness sameness) {
  try {
    CheckSame("x", was, wanted, sameness, "or begin anew");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Provenance, IsLinesOfNamesAndValues) {
  Provenance provenance;
  provenance.Add("model", "1f").Add("block", "4 5");
  EXPECT_EQ(provenance.lines(), "model 1f\nblock 4 5\n");
  EXPECT_EQ(provenance.Of("block"), "4 5");
  EXPECT_EQ(provenance.Of("bloc"), "");
  EXPECT_EQ(provenance.Of("4"), "");
  Provenance whole;
  EXPECT_EQ(whole.Add("width", "3").Add(provenance).lines(), "width 3\nmodel 1f\nblock 4 5\n");
}

TEST(Provenance, TheDifferenceThatCausesTheOthersIsNamed) {
  const Provenance was("width 32\nmodel 1f\nprecision fp32\n");
  EXPECT_EQ(ProblemOf(was, was, Sameness::kBytes), "");
  EXPECT_THAT(
      ProblemOf(was, Provenance("width 16\nmodel 2f\nprecision fp32\n"), Sameness::kBytes),
      HasSubstr("x: was encoded with numbers an embedding 32, and now it is 16; give the same "
                "--dimensions and model, or begin anew"));
  EXPECT_THROW(
      CheckSame("x", was, Provenance("width 32\nmodel 2f\nprecision fp32\n"), Sameness::kBytes, ""),
      ModelError);
}

TEST(Provenance, WhatChangesRoundingAloneCountsForBytesOnly) {
  const Provenance was("precision fp32\nthreads 2\n");
  const Provenance elsewhere("precision fp32\nthreads 4\n");
  EXPECT_THAT(ProblemOf(was, elsewhere, Sameness::kBytes), HasSubstr("threads 2, and now it is 4"));
  EXPECT_EQ(ProblemOf(was, elsewhere, Sameness::kMeaning), "");
  // Neither does what nobody asks for.
  const Provenance some("threads 2\n");
  EXPECT_EQ(ProblemOf(was, some, Sameness::kMeaning), "");
  EXPECT_THAT(ProblemOf(was, some, Sameness::kBytes), HasSubstr("precision fp32"));
}

}  // namespace
}  // namespace tandem::embeddings
