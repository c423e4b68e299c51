#include "weights/encoder_parts.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "weights/architecture.h"
#include "weights/folders/model_folder.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// Specs of the configurations whose encoders are compared with transformers, by the cases' names;
// `architecture` is the catalogue's.
std::map<std::string, EncoderSpec> SpecsOfGoldenCases() {
  const auto cases = nlohmann::json::parse(
      ReadFile(std::string(TANDEM_SOURCE_DIR) + "/tests/model/golden/encoders.json"));
  std::map<std::string, EncoderSpec> specs;
  for (const nlohmann::json& one : cases) {
    const std::string type = one["config"]["model_type"];
    const Architecture* architecture = FindArchitecture(type);
    EncoderSpec spec = architecture->read(Settings("config.json", ParseJson(one["config"].dump())));
    spec.architecture = architecture->name;
    specs[one["name"]] = std::move(spec);
  }
  return specs;
}

TEST(EncoderParts, CoverEveryTensorOfEveryArchitectureOnce) {
  std::set<std::string> architectures, known;
  for (const auto& [name, spec] : SpecsOfGoldenCases()) {
    SCOPED_TRACE(name);
    architectures.insert(spec.architecture);
    std::multiset<std::string> named, all;
    for (const EncoderPart& part : PartsOf(spec)) {
      named.insert(part.tensors.begin(), part.tensors.end());
    }
    for (const EncoderTensor& tensor : spec.tensors) all.insert(tensor.name);
    EXPECT_EQ(named, all);
  }
  for (const Architecture* info : Architectures()) known.insert(std::string(info->name));
  EXPECT_EQ(architectures, known);
}

// Adapters are put on matrices of the encoder: each name is that of a tensor [out, in].
TEST(EncoderParts, LinearMapsAreTensorsOfEveryArchitecture) {
  for (const auto& [name, spec] : SpecsOfGoldenCases()) {
    SCOPED_TRACE(name);
    std::set<std::string> matrices;
    for (const EncoderTensor& tensor : spec.tensors) {
      if (tensor.shape.size() == 2) matrices.insert(tensor.name);
    }
    const std::set<std::string> linears =
        AdapterTargets(spec, std::vector<std::string>{"all-linear"}, {});
    EXPECT_EQ(linears.size(), LinearNames(spec).size());
    for (const std::string& linear : linears) {
      EXPECT_EQ(matrices.erase(linear + ".weight"), 1U) << linear;
    }
    for (const std::string& table : matrices) {  // what is left are tables
      EXPECT_TRUE(table == spec.embedding.word || table == spec.embedding.position ||
                  table == spec.embedding.type ||
                  (spec.relative_bias && table == spec.relative_bias->name + ".weight"))
          << table;
    }
  }
}

TEST(EncoderParts, AreNamedByNameOrRange) {
  EXPECT_TRUE(NamesPart("embeddings", "embeddings"));
  EXPECT_TRUE(NamesPart("layers.3", "layers.3"));
  EXPECT_FALSE(NamesPart("layers.3", "layers.30"));
  EXPECT_TRUE(NamesPart("layers.2-11", "layers.2"));
  EXPECT_TRUE(NamesPart("layers.2-11", "layers.11"));
  EXPECT_FALSE(NamesPart("layers.2-11", "layers.12"));
  EXPECT_FALSE(NamesPart("layers.2-", "layers.2"));
  EXPECT_FALSE(NamesPart("layers.2-1x", "layers.2"));
  EXPECT_FALSE(NamesPart("layers.0-9", "embeddings"));
}

TEST(EncoderParts, ARangeOfLayersHasBothItsEnds) {
  const std::vector<EncoderPart> parts = {
      {"embeddings", {}}, {"layers.0", {}}, {"layers.1", {}}, {"layers.2", {}}};
  EXPECT_EQ(MissingLayer("layers.0-2", parts), "");
  EXPECT_EQ(MissingLayer("layers.1-1", parts), "");
  EXPECT_EQ(MissingLayer("layers.0-3", parts), "layers.3");
  EXPECT_EQ(MissingLayer("layers.0-99", parts), "layers.99");
  EXPECT_EQ(MissingLayer("layers.7-9", parts), "layers.7");
  EXPECT_EQ(MissingLayer("layers.9", parts), "");  // no range
  EXPECT_EQ(MissingLayer("embeddings", parts), "");
}

TEST(EncoderParts, TargetsAreWholeComponentsOfNames) {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const EncoderSpec spec = ReadEncoderSpec(folder.path() / "config.json");
  const auto count = [&](std::vector<std::string> targets) {
    return AdapterTargets(spec, targets, {}).size();
  };
  EXPECT_EQ(count({"all-linear"}), 12U);
  EXPECT_EQ(count({"query"}), 2U);
  EXPECT_EQ(count({"query", "self.query"}), 2U);
  EXPECT_EQ(count({"output.dense"}), 4U);
  EXPECT_EQ(count({"attention.output.dense"}), 2U);
  EXPECT_EQ(count({"encoder.layer.1.output.dense"}), 1U);
  EXPECT_EQ(AdapterTargets(spec, std::vector<std::string>{"query"},
                           {"encoder.layer.0.attention.self.query.weight"}),
            std::set<std::string>{"encoder.layer.1.attention.self.query"});
  ExpectError(
      [&] {
        count({"query", "uery"});
      },
      ExitCode::kUsage, {"\"uery\" names no linear map", "query, key, value, dense"});
  ExpectError(
      [&] {
        count({"all-linear", "query"});
      },
      ExitCode::kUsage, {"has \"all-linear\", which means every linear map, beside other names"});
  ExpectError([&] { count({}); }, ExitCode::kUsage,
              {"is empty; it must name linear maps: query, key, value, dense"});
}

}  // namespace
}  // namespace tandem::weights
