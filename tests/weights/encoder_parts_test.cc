#include "weights/encoder_parts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "weights/architecture.h"
#include "weights/error_matching.h"
#include "weights/model_folder.h"
#include "weights/small_model_folder.h"

namespace tandem::weights {
namespace {

TEST(EncoderParts, CoverEveryTensorOfEveryArchitectureOnce) {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const EncoderSpec spec = ReadEncoderSpec(folder.path() / "config.json");
  std::multiset<std::string> named, all;
  for (const EncoderPart& part : PartsOf(spec))
    named.insert(part.tensors.begin(), part.tensors.end());
  for (const EncoderTensor& tensor : spec.tensors) all.insert(tensor.name);
  EXPECT_EQ(named, all);
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
  ExpectError([&] { count({"all-linear", "query"}); }, ExitCode::kUsage, {"\"all-linear\" names"});
}

}  // namespace
}  // namespace tandem::weights
