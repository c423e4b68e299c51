// The study of `tandem calibrate` and what is printed of a calibration, on samples made by hand.
#include "commands/calibrate/calibration_study.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "commands/calibrate/calibration_output.h"
#include "eval/calibration/calibration_folds.h"

namespace tandem::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using weights::Calibration;
using weights::CalibrationMethod;

// Of 40 queries a positive and 20 others; positives have the higher scores, mostly.
std::vector<eval::QuerySamples> Samples() {
  RandomStream random({.seed = 4, .purpose = "study"});
  std::vector<eval::QuerySamples> samples(40);
  for (eval::QuerySamples& query : samples) {
    query.positives = {0.3 + 0.6 * random.Uniform()};
    for (int i = 0; i < 20; ++i) query.negatives.push_back(0.7 * random.Uniform());
  }
  samples[7].missing_positives = 2;
  return samples;
}

const Calibration kOwn{.objective = "bixse", .scale = 10, .bias = -3};

std::vector<CalibrationMethod> MethodsOf(const CalibrationStudy& study) {
  std::vector<CalibrationMethod> methods;
  for (const MeasuredCalibration& one : study.measured) methods.push_back(one.calibration.method);
  return methods;
}

TEST(CalibrationStudy, FitsAreMeasuredOnQueriesThatTheyHaveNotSeen) {
  const auto samples = Samples();
  const CalibrationStudy study =
      StudyCalibrations({.samples = samples, .similarity = "dot", .data = "mine, split dev"});
  EXPECT_EQ(study.queries, 40U);
  EXPECT_EQ(study.positives, 40U);
  EXPECT_EQ(study.missing_positives, 2U);
  EXPECT_EQ(study.negatives, 800U);
  EXPECT_EQ(study.folds, 5U);
  EXPECT_THAT(MethodsOf(study),
              ElementsAre(CalibrationMethod::kPlatt, CalibrationMethod::kIsotonic));
  const MeasuredCalibration& platt = study.measured[0];
  EXPECT_EQ(&study.Chosen(), &platt);
  EXPECT_TRUE(platt.held_out);
  EXPECT_EQ(platt.calibration.similarity, "dot");
  EXPECT_EQ(platt.calibration.fitted_on,
            "mine, split dev: 40 positives and 800 others of 40 queries");
  const auto labelled = eval::LabelledScoresOf(samples);
  EXPECT_EQ(platt.calibration.scale, eval::FitPlatt(labelled).scale);
  EXPECT_EQ(study.measured[1].calibration.probabilities, eval::FitIsotonic(labelled).probabilities);
  // Isotonic regression has no calibration error on what it was fitted to.
  std::vector<eval::QueryForecasts> seen;
  for (const eval::QuerySamples& query : samples) {
    seen.push_back(eval::ForecastsOf(query, eval::FitIsotonic(labelled)));
  }
  EXPECT_NEAR(eval::ReportCalibration(seen).figures.error, 0, 1e-12);
  EXPECT_GT(study.measured[1].report.figures.error, 1e-3);
  EXPECT_EQ(
      study.measured[1].report.figures.brier,
      eval::ReportCalibration(eval::HeldOutForecasts(samples, eval::FitIsotonic)).figures.brier);
}

TEST(CalibrationStudy, WhatWasLearnedAndWhatWasFittedEarlierAreMeasuredBesideIt) {
  const auto samples = Samples();
  const auto study_of = [&](const Calibration& before,
                            std::optional<CalibrationMethod> method = std::nullopt) {
    return StudyCalibrations({.samples = samples,
                              .before = before,
                              .similarity = "cosine",
                              .data = "mine",
                              .method = method});
  };
  const CalibrationStudy own = study_of(kOwn);
  EXPECT_THAT(MethodsOf(own), ElementsAre(CalibrationMethod::kObjective, CalibrationMethod::kPlatt,
                                          CalibrationMethod::kIsotonic));
  EXPECT_EQ(own.chosen, 0U);
  EXPECT_FALSE(own.Chosen().held_out);
  EXPECT_EQ(own.Chosen().calibration.scale, 10);
  const CalibrationStudy isotonic = study_of(kOwn, CalibrationMethod::kIsotonic);
  EXPECT_EQ(isotonic.chosen, 2U);
  const Calibration& kept = isotonic.Chosen().calibration;
  EXPECT_EQ(kept.Learned()->bias, -3);
  // Fitted before: the same method again is not mistaken for it.
  const CalibrationStudy again = study_of(kept, CalibrationMethod::kIsotonic);
  EXPECT_THAT(MethodsOf(again),
              ElementsAre(CalibrationMethod::kIsotonic, CalibrationMethod::kObjective,
                          CalibrationMethod::kPlatt, CalibrationMethod::kIsotonic));
  EXPECT_TRUE(again.measured[0].was_there);
  EXPECT_EQ(again.chosen, 3U);
  EXPECT_EQ(again.Chosen().calibration.Learned()->objective, "bixse");
  EXPECT_EQ(study_of(kept).Chosen().calibration.objective, "bixse");
  const Calibration fitted{.method = CalibrationMethod::kPlatt};
  EXPECT_EQ(study_of(fitted).Chosen().calibration.method, CalibrationMethod::kPlatt);
  EXPECT_THROW(study_of(fitted, CalibrationMethod::kObjective), UsageError);
}

TEST(CalibrationOutput, AllFormatsOfAStudySayTheSame) {
  const auto samples = Samples();
  const CalibrationStudy study = StudyCalibrations(
      {.samples = samples, .before = kOwn, .similarity = "cosine", .data = "mine"});
  const auto json = nlohmann::json::parse(FormatStudy(study, "json", {}));
  EXPECT_EQ(json["others"], 800);
  EXPECT_EQ(json["missing_positives"], 2);
  ASSERT_EQ(json["methods"].size(), 3U);
  EXPECT_EQ(json["methods"][0]["chosen"], true);
  EXPECT_EQ(json["methods"][2]["brier"], study.measured[2].report.figures.brier);
  const std::string tsv = FormatStudy(study, "tsv", {});
  EXPECT_EQ(std::count(tsv.begin(), tsv.end(), '\n'), 4);
  EXPECT_THAT(tsv, HasSubstr("\nbixse's own\tyes\t"));
  EXPECT_THAT(tsv, HasSubstr(fmt::format("\t{}\n", study.measured[2].report.figures.log_loss)));
  const std::string text = FormatStudy(study, "text", {.columns = 80});
  EXPECT_THAT(text, HasSubstr("positives   40\n"));
  EXPECT_THAT(text, HasSubstr("1 / (1 + exp(-(10 cosine + -3))), as objective bixse learned\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("{:.4f}", study.measured[1].report.figures.error)));
}

TEST(CalibrationOutput, OfAnEvaluation) {
  const std::vector<eval::QuerySamples> samples = {{"q1", {0.5}, 0, {0.3}},
                                                   {"q2", {0.1}, 1, {0.2}}};
  const Calibration map{
      .method = CalibrationMethod::kIsotonic, .scores = {0, 1}, .probabilities = {0, 1}};
  const FurtherFigures figures = CalibrationOfSamples(samples, map, {.columns = 80});
  const auto& json = figures.json["calibration"];
  EXPECT_EQ(json["documents"], 4);
  EXPECT_EQ(json["positives"], 2);
  // |0.5 - 1| + |0.3 - 0| + |0.2 - 0| + |0.1 - 1|, four bins; the best of each query: 0.5 and 0.2.
  EXPECT_NEAR(json["calibration_error"].get<double>(), 1.9 / 4, 1e-12);
  EXPECT_NEAR(json["calibration_error@1"].get<double>(), 0.7 / 2, 1e-12);
  EXPECT_EQ(json["reliability"][7]["documents"], 1);
  EXPECT_TRUE(json["reliability"][0]["mean_probability"].is_null());
  EXPECT_EQ(json["reliability"][14]["to"], 1);
  EXPECT_THAT(figures.tsv, HasSubstr("calibration_error@1\tall\t0.35\n"));
  EXPECT_THAT(figures.tsv, HasSubstr("reliability_8_documents\tall\t1\n"
                                     "reliability_8_probability\tall\t0.5\n"
                                     "reliability_8_positives\tall\t1\n"));
  EXPECT_THAT(figures.text,
              HasSubstr("probability     documents  mean probability  share of positives\n"
                        "0.067 to 0.133          1            0.1000              1.0000\n"));
  EXPECT_THAT(figures.text, HasSubstr("calibration_error@1"));
}

}  // namespace
}  // namespace tandem::app
