// calibrate, and what search and evaluate make of a calibrated model, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// 60 documents, so that every query's samples are the whole corpus. Split train has 48 queries
// with two positives each.
class CalibrateCommand : public ModelCommandsTest {
 protected:
  ProgramResult Calibrate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"calibrate", Path("model"), "--dataset", Path("data"),
                                          "--split",   "train",       "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  json TandemJson() const { return json::parse(ReadFile(Path("model/tandem.json"))); }
  void WriteLearned() const {
    Write("model/tandem.json", R"({"format": 1, "objective": "bixse",
        "probability": {"scale": 7.5, "bias": -2.5, "similarity": "cosine"}})");
  }
  // The bytes of every file of the model's folder.
  std::map<std::string, std::string> ModelFiles() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path("model"))) {
      if (entry.is_regular_file()) files[entry.path().native()] = ReadFile(entry.path());
    }
    return files;
  }

  struct Document {
    std::string query;
    double score;
    bool positive;
  };
  // Every query of split train with every document, best first, by `search` and the judgements.
  std::vector<Document> AllDocuments() const {
    std::map<std::string, bool> positive;  // by query and document
    std::istringstream qrels(ReadFile(Path("data/qrels/train.tsv")));
    std::string query, document, grade, line;
    std::getline(qrels, line);
    while (qrels >> query >> document >> grade) positive[query + " " + document] = grade != "0";
    const ProgramResult found = Search({"--split", "train", "--top-k", "60", "--output", "-"});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    std::vector<Document> all;
    std::istringstream run(found.out);
    std::string q0, rank, score, tag;
    while (run >> query >> q0 >> document >> rank >> score >> tag) {
      all.push_back({query, std::stod(score), positive[query + " " + document]});
    }
    return all;
  }
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The expected calibration error by its definition, of the first `depth` documents of each query.
template <typename Documents, typename Probability>
double ErrorOf(const Documents& documents, size_t depth, const Probability& probability) {
  std::map<std::string, size_t> taken;
  std::array<double, 15> sums{}, positives{};
  double count = 0;
  for (const auto& one : documents) {
    if (++taken[one.query] > depth) continue;
    const double p = probability(one.score);
    const size_t bin = std::min<size_t>(14, static_cast<size_t>(p * 15));
    sums[bin] += p;
    positives[bin] += one.positive ? 1 : 0;
    ++count;
  }
  double error = 0;
  for (size_t b = 0; b < 15; ++b) error += std::abs(sums[b] - positives[b]) / count;
  return error;
}

TEST_F(CalibrateCommand, PlattGoesIntoTandemJsonAndNothingElseChanges) {
  Write("model/tandem.json", R"({"format": 1, "max_query_tokens": 32, "colour": "blue"})");
  const auto before = ModelFiles();
  const ProgramResult result = Calibrate({"--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto after = ModelFiles();
  const json file = TandemJson();
  after[Path("model/tandem.json")] = before.at(Path("model/tandem.json"));
  EXPECT_EQ(after, before);
  EXPECT_EQ(file["max_query_tokens"], 32);
  EXPECT_EQ(file["colour"], "blue");
  const json& probability = file["probability"];
  EXPECT_EQ(probability["method"], "platt");
  EXPECT_EQ(probability["similarity"], "cosine");
  EXPECT_EQ(probability["fitted_on"],
            "data, split train: 96 positives and 2784 others of 48 queries");
  // The objective's gradient is zero there, over all queries and documents.
  const double scale = probability["scale"], bias = probability["bias"];
  double by_scale = 0, by_bias = 0;
  for (const Document& one : AllDocuments()) {
    const double target = one.positive ? 97.0 / 98 : 1.0 / 2786;
    const double difference = Logistic(scale * one.score + bias) - target;
    by_scale += difference * one.score;
    by_bias += difference;
  }
  EXPECT_NEAR(by_scale, 0, 1e-4);  // the run's scores have single precision
  EXPECT_NEAR(by_bias, 0, 1e-4);

  const json printed = json::parse(result.out);
  EXPECT_EQ(printed["queries"], 48);
  EXPECT_EQ(printed["positives"], 96);
  EXPECT_EQ(printed["others"], 2784);
  ASSERT_EQ(printed["methods"].size(), 2U);
  EXPECT_EQ(printed["methods"][0]["method"], "platt");
  EXPECT_EQ(printed["methods"][0]["chosen"], true);
  EXPECT_EQ(printed["methods"][0]["held_out"], true);
  EXPECT_EQ(printed["methods"][1]["method"], "isotonic");
  EXPECT_EQ(printed["methods"][1]["chosen"], false);
  EXPECT_EQ(printed["methods"][1]["reliability"].size(), 15U);
}

// Of each query the document that a search puts first, whatever it is.
TEST_F(CalibrateCommand, FitsToTheFirstHitsAlone) {
  const ProgramResult result = Calibrate({"--depth", "1", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, Document> first;
  for (const Document& one : AllDocuments()) first.emplace(one.query, one);
  size_t positives = 0;
  for (const auto& [query, one] : first) positives += one.positive;
  const json printed = json::parse(result.out);
  EXPECT_EQ(printed["positives"], positives);
  EXPECT_EQ(printed["others"], first.size() - positives);
  const json probability = TandemJson()["probability"];
  EXPECT_EQ(
      probability["fitted_on"],
      fmt::format("data, split train, each query's first document: {} positives and {} others "
                  "of {} queries",
                  positives, first.size() - positives, first.size()));
  const double scale = probability["scale"], bias = probability["bias"];
  double by_bias = 0;
  const auto count = static_cast<double>(positives);
  for (const auto& [query, one] : first) {
    const double target = one.positive ? (count + 1) / (count + 2)
                                       : 1 / (static_cast<double>(first.size()) - count + 2);
    by_bias += Logistic(scale * one.score + bias) - target;
  }
  EXPECT_NEAR(by_bias, 0, 1e-4);
  EXPECT_EQ(Calibrate({"--depth", "0"}).exit_code, 2);
}

TEST_F(CalibrateCommand, IsotonicAndADryRun) {
  const auto before = ModelFiles();
  const ProgramResult dry = Calibrate({"--method", "isotonic", "--dry-run", "--format", "tsv"});
  ASSERT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(ModelFiles(), before);
  EXPECT_THAT(dry.out, HasSubstr("method\tchosen\tcalibration_error\tcalibration_error@1\t"
                                 "calibration_error@10\tcalibration_error@100\tbrier\tlog_loss\n"));
  EXPECT_THAT(dry.out, HasSubstr("\nisotonic\tyes\t"));
  ASSERT_EQ(Calibrate({"--method", "isotonic"}).exit_code, 0);
  const json probability = TandemJson()["probability"];
  EXPECT_EQ(probability["method"], "isotonic");
  const std::vector<double> probabilities = probability["probabilities"];
  EXPECT_EQ(probability["scores"].size(), probabilities.size());
  EXPECT_TRUE(std::is_sorted(probabilities.begin(), probabilities.end()));
  EXPECT_FALSE(probability.contains("scale"));
}

TEST_F(CalibrateCommand, WhatAnObjectiveLearnedIsTheDefaultAndComesBack) {
  WriteLearned();
  const ProgramResult own = Calibrate({"--format", "json"});
  ASSERT_EQ(own.exit_code, 0) << own.err;
  const json printed = json::parse(own.out);
  ASSERT_EQ(printed["methods"].size(), 3U);
  EXPECT_EQ(printed["methods"][0]["method"], "objective");
  EXPECT_EQ(printed["methods"][0]["chosen"], true);
  EXPECT_EQ(printed["methods"][0]["held_out"], false);
  // Nothing is fitted, so that its figures are those of all documents.
  const auto documents = AllDocuments();
  const auto learned = [](double score) { return Logistic(7.5 * score - 2.5); };
  EXPECT_NEAR(printed["methods"][0]["calibration_error"].get<double>(),
              ErrorOf(documents, 60, learned), 1e-6);
  EXPECT_NEAR(printed["methods"][0]["calibration_error@1"].get<double>(),
              ErrorOf(documents, 1, learned), 1e-6);
  EXPECT_EQ(TandemJson()["probability"]["method"], "objective");
  EXPECT_EQ(TandemJson()["probability"]["scale"], 7.5);

  ASSERT_EQ(Calibrate({"--method", "platt"}).exit_code, 0);
  EXPECT_NE(TandemJson()["probability"]["scale"], 7.5);
  EXPECT_EQ(TandemJson()["learned"],
            json::parse(R"({"objective": "bixse", "scale": 7.5, "bias": -2.5})"));
  const ProgramResult again = Calibrate({});
  ASSERT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("before: platt"));
  EXPECT_THAT(again.out, HasSubstr("bixse's own"));
  EXPECT_EQ(TandemJson()["probability"]["method"], "objective");
  EXPECT_EQ(TandemJson()["probability"]["bias"], -2.5);
  EXPECT_FALSE(TandemJson().contains("learned"));
}

TEST_F(CalibrateCommand, WhatCannotBeFittedIsSaid) {
  const ProgramResult none = Calibrate({"--method", "objective"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--method objective: no objective has learned"));
  EXPECT_EQ(Calibrate({"--relevance-level", "0"}).exit_code, 2);
  EXPECT_THAT(Calibrate({"--method", "beta"}).err,
              HasSubstr("--method is beta; expected objective, platt or isotonic"));
  // Grade 3 is nobody's.
  const ProgramResult positives = Calibrate({"--relevance-level", "3"});
  EXPECT_EQ(positives.exit_code, 3);
  EXPECT_THAT(positives.err, HasSubstr("calibration: 0 of 48 queries has a positive"));
  // A corpus of which everything is a positive of both queries.
  Write("data/corpus.jsonl", R"({"_id": "d0", "text": "alpha"})"
                             "\n"
                             R"({"_id": "d1", "text": "beta"})"
                             "\n");
  Write("data/qrels/train.tsv",
        "query-id\tcorpus-id\tscore\nq0\td0\t1\nq0\td1\t1\nq1\td0\t1\nq1\td1\t1\n");
  const ProgramResult negatives = Calibrate({});
  EXPECT_EQ(negatives.exit_code, 3);
  EXPECT_THAT(negatives.err, HasSubstr("error: calibration: all documents with a score are "
                                       "positives"));
  EXPECT_FALSE(std::filesystem::exists(Path("model/tandem.json")));
}

TEST_F(CalibrateCommand, EvaluateMeasuresTheCalibration) {
  EXPECT_THAT(Evaluate({"--split", "train", "--measures", "mrr"}).out,
              testing::Not(HasSubstr("calibration")));
  WriteLearned();
  const std::vector<std::string> flags = {"--split", "train", "--measures", "mrr", "--format"};
  const auto evaluate = [&](const std::string& format) {
    std::vector<std::string> arguments = flags;
    arguments.push_back(format);
    const ProgramResult result = Evaluate(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const json calibration = json::parse(evaluate("json"))["calibration"];
  const auto documents = AllDocuments();
  const auto learned = [](double score) { return Logistic(7.5 * score - 2.5); };
  double brier = 0, log_loss = 0;
  for (const Document& one : documents) {
    const double p = learned(one.score);
    brier += (p - one.positive) * (p - one.positive);
    log_loss -= std::log(one.positive ? p : 1 - p);
  }
  const auto count = static_cast<double>(documents.size());
  EXPECT_EQ(calibration["documents"], 48 * 60);
  EXPECT_EQ(calibration["positives"], 96);
  EXPECT_NEAR(calibration["brier"].get<double>(), brier / count, 1e-6);
  EXPECT_NEAR(calibration["log_loss"].get<double>(), log_loss / count, 1e-6);
  for (const size_t depth : {1, 10, 100}) {
    EXPECT_NEAR(calibration[fmt::format("calibration_error@{}", depth)].get<double>(),
                ErrorOf(documents, depth, learned), 1e-6)
        << depth;
  }
  EXPECT_EQ(calibration["calibration_error@100"], calibration["calibration_error"]);
  size_t in_bins = 0;
  for (const json& bin : calibration["reliability"]) in_bins += bin["documents"].get<size_t>();
  EXPECT_EQ(in_bins, documents.size());

  EXPECT_THAT(evaluate("tsv"),
              HasSubstr(fmt::format("brier\tall\t{}\n", calibration["brier"].get<double>())));
  const std::string text = evaluate("text");
  EXPECT_THAT(text, HasSubstr("1 / (1 + exp(-(7.5 cosine + -2.5))), as objective bixse learned"));
  EXPECT_THAT(text, HasSubstr(fmt::format("{:.4f}\n", calibration["log_loss"].get<double>())));
  EXPECT_THAT(text, HasSubstr("share of positives"));
}

TEST_F(CalibrateCommand, SearchShowsProbabilitiesAndLeavesOutWhatIsLessProbable) {
  WriteLearned();
  const std::vector<std::string> query = {"--query", "alpha beta", "--top-k", "60", "--format"};
  const auto search = [&](const std::string& format, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = query;
    arguments.push_back(format);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = Search(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const json all = json::parse(search("json", {}))[0]["hits"];
  ASSERT_EQ(all.size(), 60U);
  for (const json& hit : all) {
    EXPECT_NEAR(hit["probability"].get<double>(), Logistic(7.5 * hit["score"].get<double>() - 2.5),
                1e-9);
  }
  // As probable as the tenth hit: ten are left, or more where some are equal.
  const double tenth = all[9]["probability"];
  size_t wanted = 0;
  for (const json& hit : all) wanted += hit["probability"].get<double>() >= tenth;
  ASSERT_LT(wanted, 60U);
  EXPECT_EQ(json::parse(search("json", {"--min-probability", fmt::format("{}", tenth)}))[0]["hits"]
                .size(),
            wanted);
  const json by_score = json::parse(
      search("json", {"--min-score", fmt::format("{}", all[9]["score"].get<float>())}))[0]["hits"];
  EXPECT_EQ(by_score.size(), wanted);
  EXPECT_EQ(by_score[0], all[0]);
  EXPECT_EQ(search("text", {"--min-score", "7"}),
            "alpha beta\nno document has a score of at least 7\n");
  EXPECT_EQ(search("tsv", {"--min-probability", "1"}), "");
  EXPECT_THAT(
      search("tsv", {}),
      HasSubstr(fmt::format("alpha beta\t1\t{}\t{}\t{}\n", all[0]["document"].get<std::string>(),
                            all[0]["score"].get<float>(), all[0]["probability"].get<double>())));
}

TEST_F(CalibrateCommand, ARunHoldsWhatIsProbableEnough) {
  WriteLearned();
  const auto documents = AllDocuments();
  const double least = documents[20].score + 1e-4;
  size_t wanted = 0;
  for (const Document& one : documents) wanted += one.score >= least;
  std::vector<std::string> arguments = {"search",
                                        "--model",
                                        Path("model"),
                                        "--dataset",
                                        Path("data"),
                                        "--split",
                                        "train",
                                        "--top-k",
                                        "60",
                                        "--output",
                                        Path("run.trec"),
                                        "--min-probability",
                                        fmt::format("{}", Logistic(7.5 * least - 2.5))};
  const ProgramResult result = RunTandem(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string run = ReadFile(Path("run.trec"));
  EXPECT_EQ(static_cast<size_t>(std::count(run.begin(), run.end(), '\n')), wanted);
  EXPECT_THAT(result.err, HasSubstr(fmt::format(", left out: {}; queries that have no other: ",
                                                documents.size() - wanted)));
}

TEST_F(CalibrateCommand, ThresholdsThatMakeNoSenseAreUsageErrors) {
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--query", "alpha"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = Search(arguments);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({"--min-probability", "0.8"}),
              HasSubstr(fmt::format("{}: its scores are not known to be probabilities, which "
                                    "--min-probability needs; fit them to judgements: tandem "
                                    "calibrate {} --dataset DATA --split dev",
                                    Path("model"), Path("model"))));
  EXPECT_THAT(error({"--min-probability", "80"}),
              HasSubstr("--min-probability is 80; expected a number from 0 to 1"));
  EXPECT_THAT(error({"--min-score", "nan"}), HasSubstr("--min-score"));
  // Of scores that the model no longer makes: cut embeddings, another similarity.
  WriteLearned();
  EXPECT_THAT(error({"--min-probability", "0.8", "--dimensions", "8"}),
              HasSubstr("its scores are not known to be probabilities"));
  Write("model/config_sentence_transformers.json", R"({"similarity_fn_name": "dot"})");
  const std::string other = error({"--min-probability", "0.8"});
  EXPECT_THAT(other, HasSubstr("its probability is of cosine, but the model compares by dot"));
}

}  // namespace
}  // namespace tandem
