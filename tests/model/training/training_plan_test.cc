// What of a model is trained: names of parts, frozen tensors, two towers on one base, saving.
#include "model/training/training_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "tensor/packed_tokens.h"
#include "tensor/profile/profile.h"
#include "weights/folders/adapter_folder.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::model {
namespace {

using tensor::Passes;
using tensor::Precision;

// The folder's weights again, in bf16.
void StoreAsBf16(const std::filesystem::path& folder) {
  const weights::SafetensorsFile file(folder / "model.safetensors");
  std::vector<std::string> bytes;
  std::vector<weights::TensorToWrite> tensors;
  for (const weights::TensorView& view : file.tensors()) {
    std::string& to = bytes.emplace_back();
    for (const float value : weights::ToFloat32(view)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
      to.append(reinterpret_cast<const char*>(&bits), 2);
    }
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const weights::TensorView& view = file.tensors()[i];
    tensors.push_back({view.name, weights::Dtype::kBF16, view.shape, bytes[i], {}});
  }
  weights::WriteSafetensors(folder / "model.safetensors", tensors);
}

tensor::PackedTokens ThreeTexts() {
  const std::vector<int32_t> a = {2, 31, 18, 7, 3}, b = {2, 5, 3}, c = {2, 80, 9, 11, 77, 4, 17, 3};
  return tensor::Pack(std::vector<std::span<const int32_t>>{a, b, c});
}

tensor::Tensor Embeddings(DualEncoder& model, TextKind kind = TextKind::kQuery,
                          Precision precision = Precision::kFp32) {
  model.Prepare(kind, precision, Passes::kBoth);
  return model.Encode(ThreeTexts(), kind, {.precision = precision});
}

std::vector<std::string> TrainedNames(DualEncoder& model) {
  std::vector<std::string> names;
  for (const NamedParameter& parameter : TrainedOf(model.Parameters())) {
    names.push_back(parameter.name);
  }
  return names;
}

class TrainingPlanTest : public testing::Test {
 protected:
  TrainingPlanTest() {
    tensor::SetUpProcess(0);
    WriteTinyModel(Path("base"), {.layers = 3, .dense = true});
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  std::unique_ptr<DualEncoder> Load(const TrainingOptions& training,
                                    const std::string& name = "base") const {
    return DualEncoder::Load(Path(name), {.seed = 5, .training = training});
  }
  std::string ProblemOf(const TrainingOptions& training) const {
    try {
      Load(training);
    } catch (const TrainingProblem& problem) {
      return problem.key() + " " + problem.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(TrainingPlanTest, FrozenPartsAreThoseThatAreNamed) {
  const auto model = Load({.freeze = {"embeddings", "layers.0-1", "2_Dense"}});
  const std::vector<std::string> names = TrainedNames(*model);
  EXPECT_EQ(names.size(), 16U);  // a layer: six linear maps, two norms
  for (const std::string& name : names) EXPECT_TRUE(name.starts_with("encoder.layer.2.")) << name;
  EXPECT_EQ(TrainedNames(*Load({.what = Trained::kHead})),
            (std::vector<std::string>{"2_Dense/linear.weight", "2_Dense/linear.bias"}));
  EXPECT_EQ(TrainedNames(*Load({.what = Trained::kNothing})).size(), 0U);
}

TEST_F(TrainingPlanTest, ANameThatNamesNothingIsAnErrorWithThoseThatThereAre) {
  const std::string path = Path("base").native();
  EXPECT_EQ(ProblemOf({.freeze = {"layers.3"}}),
            "model.freeze \"layers.3\" names no part of " + path +
                "; it has embeddings, layers.0 to layers.2, 2_Dense");
  EXPECT_EQ(ProblemOf({.freeze = {"layers.2-1"}}).substr(0, 12), "model.freeze");
  EXPECT_EQ(
      ProblemOf({.what = Trained::kLora, .lora = {.targets = {"q_proj"}}}),
      "lora.target_modules \"q_proj\" names no linear map of this encoder; it has query, key, "
      "value, dense (as in encoder.layer.0.attention.self.query), or \"all-linear\" for all");
  EXPECT_EQ(ProblemOf({.what = Trained::kHead, .freeze = {"2_Dense"}}),
            "model.freeze leaves nothing to train");
  EXPECT_EQ(ProblemOf({.freeze = {"layers.0-99"}}),
            "model.freeze \"layers.0-99\" names layers.99, which is no part of " + path +
                "; it has embeddings, layers.0 to layers.2, 2_Dense");
  EXPECT_EQ(ProblemOf({.what = Trained::kLora, .lora = {.targets = {}}}).substr(0, 29),
            "lora.target_modules is empty;");
}

// Gradients of what is trained are those of a model in which everything is.
TEST_F(TrainingPlanTest, GradientsOfTheRestDoNotDependOnWhatIsFrozen) {
  const auto all = Load({}), some = Load({.freeze = {"embeddings", "layers.0", "layers.2"}});
  for (DualEncoder* model : {all.get(), some.get()}) {
    const tensor::Tensor rows = Embeddings(*model);
    SineLoss(rows).backward();
  }
  const auto wants = all->Parameters(), gots = some->Parameters();
  ASSERT_EQ(wants.size(), gots.size());
  for (size_t i = 0; i < wants.size(); ++i) {
    if (!gots[i].trained()) {
      EXPECT_FALSE(gots[i].value.grad().defined()) << gots[i].name;
      continue;
    }
    EXPECT_TRUE(AreEqual(gots[i].value.grad(), wants[i].value.grad())) << gots[i].name;
  }
}

TEST_F(TrainingPlanTest, TheBackwardPassEndsAtTheLowestPartThatIsTrained) {
  const auto model = Load({.freeze = {"embeddings", "layers.0-1"}});
  const tensor::Tensor rows = Embeddings(*model);
  tensor::Profile profile;
  {
    const tensor::ActiveProfile active(&profile);
    tensor::Sum(rows).backward();
  }
  for (const tensor::Profile::Operation& operation : profile.operations()) {
    if (operation.name.ends_with("backward") && operation.name.find("Norm") != std::string::npos) {
      EXPECT_EQ(operation.calls, 1) << operation.name;
    }
    EXPECT_NE(operation.name, "EmbeddingNorm backward");
  }
}

TEST_F(TrainingPlanTest, FrozenLargeTensorsKeepTheTypeAndMemoryOfTheFile) {
  StoreAsBf16(Path("base"));
  const auto floats = Load({}), frozen = Load({.what = Trained::kNothing});
  for (const NamedParameter& parameter : frozen->Parameters()) {
    const bool large = parameter.value.dim() == 2 &&
                       parameter.name.find("position_emb") == std::string::npos &&
                       parameter.name.find("token_type") == std::string::npos &&
                       !parameter.name.starts_with("2_Dense");
    EXPECT_EQ(parameter.value.dtype(), large ? tensor::kBFloat16 : tensor::kFloat)
        << parameter.name;
  }
  const tensor::NoGradGuard no_gradient;
  for (const Precision precision : tensor::TestedPrecisions()) {
    EXPECT_TRUE(AreEqual(Embeddings(*floats, TextKind::kQuery, precision),
                         Embeddings(*frozen, TextKind::kQuery, precision)));
  }
}

TEST_F(TrainingPlanTest, TwoTowersOfOneFolderShareFrozenTensors) {
  const auto model = DualEncoder::Load(
      Path("base"), {.towers = weights::Towers::kSeparate, .training = {.what = Trained::kLora}});
  const auto parameters = model->Parameters();
  const auto find = [&](const std::string& name) {
    return std::find_if(parameters.begin(), parameters.end(),
                        [&](const NamedParameter& parameter) { return parameter.name == name; })
        ->value;
  };
  const std::string linear = "encoder.layer.1.intermediate.dense";
  EXPECT_EQ(find("query." + linear + ".weight").data_ptr(),
            find("document." + linear + ".weight").data_ptr());
  EXPECT_NE(find("query." + linear + ".lora_A.weight").data_ptr(),
            find("document." + linear + ".lora_A.weight").data_ptr());
}

// A is uniform up to 1 / sqrt(K), by the seed and the map's name; B is zero.
TEST_F(TrainingPlanTest, NewAdaptersStartAsTheSeedAndTheirNameSay) {
  const TrainingOptions lora{.what = Trained::kLora, .lora = {.rank = 8, .targets = {"query"}}};
  const auto starts = [&](uint64_t seed) {
    std::vector<tensor::Tensor> downs;
    const auto model = DualEncoder::Load(Path("base"), {.seed = seed, .training = lora});
    for (const NamedParameter& parameter : TrainedOf(model->Parameters())) {
      if (parameter.name.ends_with(".lora_A.weight")) downs.push_back(parameter.value.detach());
      if (parameter.name.ends_with(".lora_B.weight")) {
        EXPECT_EQ(LargestOf(parameter.value), 0);
      }
    }
    return downs;
  };
  const auto some = starts(5), same = starts(5), others = starts(6);
  ASSERT_EQ(some.size(), 3U);
  for (size_t i = 0; i < some.size(); ++i) {
    const double bound = 1 / std::sqrt(static_cast<double>(some[i].size(1)));
    const std::vector<double> numbers = ElementsOf(some[i]);
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    EXPECT_LE(LargestOf(some[i]), bound);
    EXPECT_GT(*most, 0.9 * bound);
    EXPECT_LT(*least, -0.9 * bound);
    EXPECT_TRUE(AreEqual(some[i], same[i]));
    EXPECT_FALSE(AreEqual(some[i], others[i]));
    EXPECT_FALSE(AreEqual(some[i], some[(i + 1) % some.size()]));
  }
}

// Makes B other than zero.
void Train(DualEncoder& model) {
  double value = 0.01;
  for (const NamedParameter& parameter : TrainedOf(model.Parameters())) {
    AddToEach(parameter.value, value);
    value = -value * 1.1;
  }
}

TEST_F(TrainingPlanTest, ASavedModelIsMergedAndItsAdapterGoesOn) {
  const TrainingOptions lora{.what = Trained::kLora,
                             .freeze = {"layers.0"},
                             .lora = {.rank = 4, .alpha = 2, .targets = {"query", "output.dense"}}};
  const auto model = Load(lora);
  const tensor::NoGradGuard no_gradient;
  EXPECT_TRUE(AreEqual(Embeddings(*model), Embeddings(*Load({}))));  // B is zero
  Train(*model);
  model->Save(Path("merged"));
  model->SaveAdapter(Path("adapter"), {"hub/base", ""});
  const tensor::Tensor want = Embeddings(*model);
  EXPECT_GT(LargestDifference(want, Embeddings(*Load({}))), 1e-3);
  EXPECT_LE(LargestDifference(Embeddings(*Load({}, "merged")), want), 1e-6);
  const auto again = Load({.what = Trained::kLora, .adapter = Path("adapter")});
  EXPECT_TRUE(AreEqual(Embeddings(*again), want));
  EXPECT_EQ(TrainedNames(*again), TrainedNames(*model));
}

TEST_F(TrainingPlanTest, FrozenLayersGetNoAdapters) {
  const auto layers = [](DualEncoder& model) {
    std::string found;
    for (const std::string& name : TrainedNames(model)) {
      if (name.ends_with("query.lora_A.weight")) found += name.substr(sizeof "encoder.layer", 1);
    }
    return found;
  };
  const TrainingOptions lora{.what = Trained::kLora, .freeze = {"layers.0"}};
  const auto some = Load(lora);
  EXPECT_EQ(layers(*some), "12");
  some->SaveAdapter(Path("adapter"), {"base", ""});
  const TrainingOptions again{
      .what = Trained::kLora, .freeze = {"layers.1"}, .adapter = Path("adapter")};
  EXPECT_EQ(layers(*Load(again)), "2");
}

// Adapters of frozen layers are part of the model that training goes on from.
TEST_F(TrainingPlanTest, AdaptersOfFrozenLayersStayAsTheyAre) {
  const auto first = Load({.what = Trained::kLora, .lora = {.rank = 4, .targets = {"query"}}});
  Train(*first);
  first->SaveAdapter(Path("adapter"), {"base", ""});
  const TrainingOptions on{
      .what = Trained::kLora, .freeze = {"layers.0", "layers.2"}, .adapter = Path("adapter")};
  const auto second = Load(on);
  const std::string layer = "encoder.layer.1.attention.self.query.lora_";
  EXPECT_EQ(TrainedNames(*second),
            (std::vector<std::string>{layer + "A.weight", layer + "B.weight"}));
  EXPECT_TRUE(AreEqual(Embeddings(*second), Embeddings(*first)));
  for (const Precision precision : tensor::TestedPrecisions()) {  // merged, and beside
    tensor::Sum(Embeddings(*second, TextKind::kQuery, precision)).backward();
    for (const NamedParameter& parameter : second->Parameters()) {
      EXPECT_EQ(parameter.value.grad().defined(), parameter.trained()) << parameter.name;
    }
  }
  Train(*second);
  second->SaveAdapter(Path("again"), {"base", ""});
  const weights::SafetensorsFile before(Path("adapter/adapter_model.safetensors")),
      after(Path("again/adapter_model.safetensors"));
  ASSERT_EQ(after.tensors().size(), before.tensors().size());
  for (const weights::TensorView& tensor : before.tensors()) {
    const bool frozen = tensor.name.find("layer.1.") == std::string::npos;
    EXPECT_EQ(after.Find(tensor.name)->bytes == tensor.bytes, frozen) << tensor.name;
  }
  EXPECT_EQ(ProblemOf({.what = Trained::kLora,
                       .freeze = {"embeddings", "layers.0-2", "2_Dense"},
                       .adapter = Path("adapter")}),
            "model.freeze leaves nothing to train");
}

TEST_F(TrainingPlanTest, TwoTowersGoOnFromTheirOwnAdapters) {
  const auto load = [&](const std::filesystem::path& adapter) {
    return DualEncoder::Load(Path("base"),
                             {.towers = weights::Towers::kSeparate,
                              .seed = 5,
                              .training = {.what = Trained::kLora, .adapter = adapter}});
  };
  const auto first = load({});
  Train(*first);
  first->SaveAdapter(Path("adapter"), {"base", "base"});
  const auto second = load(Path("adapter"));
  for (const TextKind kind : {TextKind::kQuery, TextKind::kDocument}) {
    EXPECT_TRUE(AreEqual(Embeddings(*second, kind), Embeddings(*first, kind)));
  }
  EXPECT_FALSE(AreEqual(Embeddings(*first), Embeddings(*first, TextKind::kDocument)));
  const auto both = load(Path("adapter") / "query");
  EXPECT_TRUE(AreEqual(Embeddings(*both), Embeddings(*first)));
  EXPECT_TRUE(AreEqual(Embeddings(*both, TextKind::kDocument), Embeddings(*first)));
  const std::string path = Path("adapter").native();
  EXPECT_EQ(ProblemOf({.what = Trained::kLora, .adapter = path}),
            "model.adapter \"" + path +
                "\" holds adapters of two encoders: give its folder query or document, or "
                "model.towers = \"separate\"");
  EXPECT_EQ(ProblemOf({.what = Trained::kLora, .adapter = "/nowhere"}).substr(0, 40),
            "model.adapter \"/nowhere\" does not exist;");
}

// A new projection is written beside the adapters, and trained on where training goes on from them.
TEST_F(TrainingPlanTest, AnAdaptersFolderHoldsTheProjection) {
  const auto load = [&](const std::optional<int64_t>& projection, const TrainingOptions& training) {
    return DualEncoder::Load(Path("base"),
                             {.projection = projection, .seed = 5, .training = training});
  };
  const TrainingOptions lora{.what = Trained::kLora};
  const auto first = load(6, lora);
  Train(*first);
  first->SaveAdapter(Path("adapter"), {"base", ""});
  const TrainingOptions on{.what = Trained::kLora, .adapter = Path("adapter")};
  for (const std::optional<int64_t> projection :
       {std::optional<int64_t>(), std::optional<int64_t>(6)}) {
    const auto second = load(projection, on);
    EXPECT_TRUE(AreEqual(Embeddings(*second), Embeddings(*first)));
    EXPECT_EQ(TrainedNames(*second), TrainedNames(*first));
    EXPECT_EQ(TrainedNames(*second).back(), "projection/linear.weight");
  }
  EXPECT_THROW(load(4, on), TrainingProblem);
}

TEST_F(TrainingPlanTest, ARankThatAMapCannotUseIsSaid) {
  const CapturedMessages messages;
  Load({.what = Trained::kLora, .lora = {.rank = 4096, .targets = {"query"}}});
  EXPECT_NE(
      messages.text().find("rank 4096 of the adapters is more than encoder.layer.0.attention"),
      std::string::npos)
      << messages.text();
}

TEST_F(TrainingPlanTest, SettingsSayTheAdaptersScale) {
  const auto settings = [&](double alpha) {
    return Load({.what = Trained::kLora, .lora = {.rank = 4, .alpha = alpha}})->settings();
  };
  EXPECT_NE(settings(2), settings(3));
  EXPECT_NE(settings(2).find("adapters of rank 4, scale 0.5, dropout 0"), std::string::npos);
  EXPECT_EQ(Load({})->adapter_settings(), "");
}

// The base's pooler is called pooler.dense, so that "dense" would name it too.
TEST_F(TrainingPlanTest, AnAdaptersTargetsNameNoOtherModules) {
  const auto model = Load({.what = Trained::kLora});
  model->SaveAdapter(Path("adapter"), {"base", ""});
  const weights::ModelFolder base = weights::ReadModelFolder(Path("base"));
  const weights::AdapterFolder adapter =
      weights::ReadAdapterFolder(Path("adapter"), base.encoder, {});
  EXPECT_EQ(adapter.settings.targets, (std::vector<std::string>{"intermediate.dense", "key",
                                                                "output.dense", "query", "value"}));
}

}  // namespace
}  // namespace tandem::model
