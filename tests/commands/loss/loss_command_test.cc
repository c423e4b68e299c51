// `tandem loss`: cases in, losses and gradients out; reference vectors; broken input.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "objective/catalogue.h"
#include "support/run_tandem.h"
#include "support/test_data.h"

namespace tandem {
namespace {

using nlohmann::json;

// Two orthogonal queries, each with a document that equals it.
json SmallCase() {
  return {{"objective", "infonce"},      {"parameters", {{"temperature", 1}}},
          {"queries", {{2, 0}, {0, 3}}}, {"documents", {{1, 0}, {0, 1}}},
          {"positive", {0, 1}},          {"negative_mask", {{0, 1}, {1, 0}}}};
}

class LossCommand : public testing::Test {
 protected:
  ProgramResult Run(const json& cases, std::vector<std::string> flags = {}) {
    return RunText(cases.dump(), std::move(flags));
  }

  ProgramResult RunText(const std::string& text, std::vector<std::string> flags = {}) {
    WriteFileAtomically(folder_.path() / "cases.json", text);
    flags.insert(flags.begin(), {"loss", (folder_.path() / "cases.json").native()});
    return RunTandem(flags);
  }

  // The message after "error: FILE: ".
  void ExpectError(const json& cases, int exit_code, const std::string& message) {
    const ProgramResult result = Run(cases);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    const std::string file = (folder_.path() / "cases.json").native();
    EXPECT_EQ(result.err, "error: " + file + ": " + message + "\n");
  }

  TemporaryFolder folder_;
};

TEST_F(LossCommand, PrintsLossAndGradients) {
  const ProgramResult result = Run(json::array({SmallCase()}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json printed = json::parse(result.out);
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_EQ(printed[0]["objective"], "infonce");
  EXPECT_NEAR(printed[0]["loss"].get<double>(), std::log1p(std::exp(-1.0)), 1e-15);
  // d loss / d s_01 = p_01 / Q with p_01 = 1 / (1 + e); d s_01 / d q_0 = (0, 1) / |q_0|.
  const double share = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(printed[0]["grad_queries"][0][0].get<double>(), 0, 1e-16);
  EXPECT_NEAR(printed[0]["grad_queries"][0][1].get<double>(), share / 2 / 2, 1e-15);
  EXPECT_NEAR(printed[0]["grad_documents"][0][1].get<double>(), share / 2, 1e-15);
}

// The second query has no negative: its loss is 0.
TEST_F(LossCommand, PrintsLossesOfQueriesAndTakesTheirWeights) {
  json one = SmallCase();
  one["negative_mask"][1][0] = 0;
  json weighted = one;
  weighted["weights"] = {0.5, 3};
  const json printed = json::parse(Run(json::array({one, weighted})).out);
  const double loss = std::log1p(std::exp(-1.0));
  for (const json& result : printed) {
    ASSERT_EQ(result["losses"].size(), 2u);
    EXPECT_NEAR(result["losses"][0].get<double>(), loss, 1e-15);
    EXPECT_EQ(result["losses"][1], 0.0);
  }
  EXPECT_NEAR(printed[0]["loss"].get<double>(), loss / 2, 1e-15);
  EXPECT_NEAR(printed[1]["loss"].get<double>(), loss / 4, 1e-15);
  EXPECT_EQ(printed[1]["grad_queries"][0][1].get<double>(),
            printed[0]["grad_queries"][0][1].get<double>() / 2);
}

TEST_F(LossCommand, ChecksLossesOfQueriesWhereTheCaseHasThem) {
  json one = SmallCase();
  one["weights"] = {0.5, 3};
  const json printed = json::parse(Run(json::array({one})).out);
  for (const char* field : {"loss", "losses", "grad_queries", "grad_documents"}) {
    one[field] = printed[0][field];
  }
  EXPECT_EQ(Run(json::array({one}), {"--check"}).exit_code, 0);
  one["losses"][1] = one["losses"][1].get<double>() + 1e-10;
  EXPECT_EQ(Run(json::array({one}), {"--check"}).exit_code, 6);
}

TEST_F(LossCommand, PrintsNumbersThatReadBackToTheSameBits) {
  const json first = json::parse(Run(json::array({SmallCase()})).out);
  json expected = SmallCase();
  for (const char* field : {"loss", "grad_queries", "grad_documents"}) {
    expected[field] = first[0][field];
  }
  const json table = json::parse(Run(json::array({expected}), {"--check", "--format", "json"}).out);
  EXPECT_EQ(table[0]["loss_error"], 0.0);
  EXPECT_EQ(table[0]["grad_queries_error"], 0.0);
  EXPECT_EQ(table[0]["grad_documents_error"], 0.0);
}

TEST_F(LossCommand, CheckFailsWhenSomethingIsOutOfBounds) {
  const json first = json::parse(Run(json::array({SmallCase()})).out);
  json expected = SmallCase();
  for (const char* field : {"loss", "grad_queries", "grad_documents"}) {
    expected[field] = first[0][field];
  }
  for (const auto& [dtype, small, large] :
       {std::tuple("float64", 1e-12, 1e-10), std::tuple("float32", 1e-6, 1e-4)}) {
    json moved = expected;
    moved["grad_documents"][1][0] = expected["grad_documents"][1][0].get<double>() + small;
    EXPECT_EQ(Run(json::array({moved}), {"--check", "--dtype", dtype}).exit_code, 0);
    moved["grad_documents"][1][0] = expected["grad_documents"][1][0].get<double>() + large;
    const ProgramResult result = Run({expected, moved}, {"--check", "--dtype", dtype});
    EXPECT_EQ(result.exit_code, 6);
    EXPECT_NE(result.out.find("out of bounds"), std::string::npos);
    EXPECT_NE(result.err.find("1 of 2 cases are further than"), std::string::npos);
  }
}

TEST_F(LossCommand, GivesFiniteGradientsForAZeroVector) {
  json zero = SmallCase();
  zero["queries"][0] = {0, 0};
  const ProgramResult result = Run(json::array({zero}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json printed = json::parse(result.out);  // JSON knows no NaN
  EXPECT_EQ(printed[0]["grad_queries"][0], json({0.0, 0.0}));
}

TEST_F(LossCommand, NamesCaseAndFieldOfBrokenInput) {
  const auto with = [](const char* field, json value) {
    json one = SmallCase();
    one[field] = std::move(value);
    return json{SmallCase(), one};
  };
  json missing = SmallCase();
  missing.erase("documents");
  ExpectError({SmallCase(), missing}, 3, "case 1: documents is missing");
  ExpectError({{"a", 1}}, 3, "must be a list of cases");
  ExpectError(json::array({3}), 3, "case 0 must be an object");
  ExpectError(with("queries", {{1, 2}, {1}}), 3, "case 1: queries must have 2 columns, found 1");
  ExpectError(with("queries", json::array()), 3, "case 1: queries must not be empty");
  ExpectError(with("queries", {{1, "x"}, {1, 2}}), 3,
              "case 1: queries must hold numbers, found string");
  ExpectError(with("documents", {{1, 0, 0}}), 3, "case 1: documents must have 2 columns, found 3");
  ExpectError(with("positive", {0, 2}), 3,
              "case 1: positive must name columns from 0 to 1, found 2");
  ExpectError(with("positive", {0}), 3,
              "case 1: positive must name 2 columns, one for each query, found 1");
  ExpectError(with("weights", {1}), 3,
              "case 1: weights must have 2 numbers, one for each query, found 1");
  ExpectError(with("weights", {1, -0.5}), 3, "case 1: weights must be 0 or more, found -0.5");
  ExpectError(with("weights", 2), 3, "case 1: weights must be a list, found number");
  ExpectError(with("parameters", {{"bank_positives", json::array({0.5})}}), 3,
              "case 1: parameters.bank_positives are scores of earlier batches, which the "
              "objective infonce "
              "does not compare with: leave them out, or take mann_whitney");
  ExpectError(with("negative_mask", {{0, 1}}), 3,
              "case 1: negative_mask must have 2 rows, found 1");
  ExpectError(with("negative_mask", {{0, 2}, {1, 0}}), 3,
              "case 1: negative_mask must hold 0, 1, true or false, found 2");
  ExpectError(with("parameters", {{"temperatur", 1}}), 3,
              "case 1: parameters.temperatur is unknown for the objective infonce; did you mean "
              "temperature?");
  ExpectError(with("parameters", {{"temperature", 0}}), 3,
              "case 1: parameters.temperature must be from 0.0001 to 10 score units, found 0");
  const ProgramResult broken = RunText("[{\"objective\": ");
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_NE(broken.err.find("is not valid JSON"), std::string::npos);
}

TEST_F(LossCommand, NamesTheKnownObjectives) {
  json unknown = SmallCase();
  unknown["objective"] = "infonec";
  const ProgramResult result = Run({SmallCase(), unknown});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("case 1: objective infonec is unknown; known are infonce"),
            std::string::npos)
      << result.err;
}

TEST_F(LossCommand, ANonFiniteScoreIsANumericError) {
  json huge = SmallCase();
  huge["parameters"]["similarity_kind"] = "dot";
  huge["queries"][0][0] = 1e200;
  huge["documents"][0][0] = 1e200;
  const ProgramResult result = Run(json::array({huge}));
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.err.find("the score of query 0 and document 0 is inf"), std::string::npos);
}

// Portable forms are the back end's, a library beside the program where that was built.
bool HasBackEnd() {
  return std::filesystem::exists(std::filesystem::path(TANDEM_BINARY).parent_path() /
                                 "libtandem-torch.so");
}

TEST_F(LossCommand, SaysThatPortableFormsTakeTheBackEnd) {
  if (HasBackEnd()) GTEST_SKIP() << "the back end is there";
  WriteFileAtomically(folder_.path() / "cases.json", json::array({SmallCase()}).dump());
  const ProgramResult result =
      RunTandem({"loss", folder_.path() / "cases.json"}, "", {{"TANDEM_FORMS", "portable"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("libtandem-torch.so"), std::string::npos) << result.err;
}

TEST_F(LossCommand, AgreesWithEveryReferenceVector) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    const auto file = *shared / "vectors" / (std::string(info->name) + ".json");
    for (const char* dtype : {"float64", "float32"}) {
      for (const char* forms : {"", "portable"}) {
        if (*forms != '\0' && !HasBackEnd()) continue;
        const ProgramResult result =
            RunTandem({"loss", file, "--check", "--dtype", dtype}, "", {{"TANDEM_FORMS", forms}});
        EXPECT_EQ(result.exit_code, 0) << info->name << " " << dtype << " " << forms << "\n"
                                       << result.out << result.err;
      }
    }
  }
}

}  // namespace
}  // namespace tandem
