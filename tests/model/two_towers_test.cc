// Models of two encoders, and new projections after one or two.
#include "model/two_towers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/random.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::model {
namespace {

using testing::HasSubstr;
using weights::Towers;

constexpr TextKind kKinds[] = {TextKind::kQuery, TextKind::kDocument};

tensor::PackedTokens Packed(const DualEncoder& model, TextKind kind,
                            const std::vector<std::string_view>& texts) {
  const text::EncodedTexts encoded =
      model.tokenizer(kind).EncodeAll(texts, model.max_tokens(kind), 1);
  std::vector<std::span<const int32_t>> spans;
  for (size_t b = 0; b < encoded.size(); ++b) spans.push_back(encoded[b]);
  return tensor::Pack(spans);
}

tensor::Tensor EncodeTexts(DualEncoder& model, TextKind kind,
                           const std::vector<std::string_view>& texts) {
  const tensor::NoGradGuard no_gradient;
  model.Prepare(kind, tensor::Precision::kFp32, tensor::Passes::kForward);
  return model.Encode(Packed(model, kind, texts), kind, {});
}

// Changes every parameter at random, so that two towers that were equal differ.
void Perturb(DualEncoder& model) {
  const tensor::NoGradGuard no_gradient;
  RandomStream stream({.seed = 4, .purpose = "perturb"});
  for (const NamedParameter& parameter : model.Parameters()) {
    for (int64_t i = 0; i < parameter.value.numel(); ++i) {
      parameter.value.data_ptr<float>()[i] += static_cast<float>(0.1 * stream.Uniform());
    }
  }
}

std::map<std::string, std::string> FilesOf(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), folder).native()] = ReadFile(entry.path());
  }
  return files;
}

struct Kind {
  const char* name;
  Towers towers;
  std::optional<int64_t> projection;
  bool dense;  // of the base
};
constexpr Kind kModels[] = {
    {"SharedWithProjection", Towers::kShared, 8, false},
    {"Separate", Towers::kSeparate, {}, false},
    {"SeparateWithProjections", Towers::kSeparate, 8, false},
    {"SharedProjection", Towers::kSeparateSharedProjection, 8, false},
    {"SharedProjectionBehindDense", Towers::kSeparateSharedProjection, 8, true},
    {"SharedDenseOfTheBase", Towers::kSeparateSharedProjection, {}, true},
};

class TwoTowersTest : public testing::TestWithParam<Kind> {
 protected:
  TwoTowersTest() {
    tensor::SetUpProcess(0);
    WriteTinyModel(base(), {.dense = GetParam().dense});
    model_ = DualEncoder::Load(
        base(), {.towers = GetParam().towers, .projection = GetParam().projection, .seed = 9});
  }
  std::filesystem::path base() const { return folder_.path() / "base"; }

  TemporaryFolder folder_;
  std::unique_ptr<DualEncoder> model_;
};
INSTANTIATE_TEST_SUITE_P(Models, TwoTowersTest, testing::ValuesIn(kModels),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(TwoTowersTest, StartsAsTheSharedModel) {
  const auto shared = DualEncoder::Load(base(), {.projection = GetParam().projection, .seed = 9});
  const auto other_seed =
      DualEncoder::Load(base(), {.projection = GetParam().projection, .seed = 10});
  const std::vector<std::string_view> texts = {"red photo editor", "fast music"};
  EXPECT_EQ(model_->embedding_width(), GetParam().projection.value_or(GetParam().dense ? 16 : 32));
  EXPECT_EQ(model_->shared(), GetParam().towers == Towers::kShared);
  for (const TextKind kind : kKinds) {
    const tensor::Tensor rows = EncodeTexts(*model_, kind, texts);
    EXPECT_TRUE(AreEqual(rows, EncodeTexts(*shared, kind, texts)));
    EXPECT_EQ(AreEqual(rows, EncodeTexts(*other_seed, kind, texts)), !GetParam().projection);
    for (int64_t b = 0; b < rows.size(0); ++b) EXPECT_NEAR(NormOf(rows[b]), 1, 1e-6);
  }
}

TEST_P(TwoTowersTest, AnEmbeddingDoesNotDependOnItsNeighbours) {
  Perturb(*model_);
  for (const TextKind kind : kKinds) {
    const tensor::Tensor alone = EncodeTexts(*model_, kind, {"red photo editor"});
    const tensor::Tensor among =
        EncodeTexts(*model_, kind, {"a", "fast music server for alpha", "red photo editor", "b"});
    EXPECT_LE(LargestDifference(alone[0], among[2]), 1e-6);
    EXPECT_GT(LargestDifference(alone[0], among[1]), 1e-3);
  }
}

TEST_P(TwoTowersTest, EachKindGoesThroughItsOwnTower) {
  Perturb(*model_);
  const tensor::Tensor query = EncodeTexts(*model_, TextKind::kQuery, {"red photo editor"});
  const tensor::Tensor document = EncodeTexts(*model_, TextKind::kDocument, {"red photo editor"});
  EXPECT_EQ(AreEqual(query, document), model_->shared());
  for (const NamedParameter& parameter : model_->Parameters()) {
    if (parameter.name.starts_with("query.")) AddToEach(parameter.value, 0.01);
  }
  EXPECT_EQ(AreEqual(EncodeTexts(*model_, TextKind::kQuery, {"red photo editor"}), query),
            model_->shared());
  EXPECT_TRUE(AreEqual(EncodeTexts(*model_, TextKind::kDocument, {"red photo editor"}), document));
}

TEST_P(TwoTowersTest, ParametersHaveNamesOfTheirOwnAndSharedOnesAppearOnce) {
  const auto one = DualEncoder::Load(base(), {.projection = GetParam().projection});
  std::set<std::string> names;
  std::set<const void*> memory;
  size_t shared = 0;
  for (const NamedParameter& parameter : model_->Parameters()) {
    names.insert(parameter.name);
    memory.insert(parameter.value.data_ptr());
    shared += parameter.name.starts_with("shared.");
  }
  const size_t count = model_->Parameters().size();
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(memory.size(), count);
  // A new projection has no bias, the base's Dense module has one.
  const size_t want = GetParam().projection ? 1 : 2;
  EXPECT_EQ(shared, GetParam().towers == Towers::kSeparateSharedProjection ? want : 0);
  EXPECT_EQ(count,
            model_->shared() ? one->Parameters().size() : 2 * one->Parameters().size() - shared);
}

TEST_P(TwoTowersTest, SaveAndLoadGiveTheSameBytes) {
  Perturb(*model_);
  model_->Save(folder_.path() / "saved");
  const auto loaded = DualEncoder::Load(folder_.path() / "saved");
  EXPECT_EQ(loaded->shared(), model_->shared());
  EXPECT_EQ(loaded->Parameters().size(), model_->Parameters().size());
  const std::vector<std::string_view> texts = {"green graph", "slow game server"};
  for (const TextKind kind : kKinds) {
    EXPECT_TRUE(AreEqual(EncodeTexts(*loaded, kind, texts), EncodeTexts(*model_, kind, texts)));
    if (model_->shared()) continue;
    const char* name = kind == TextKind::kQuery ? "query" : "document";
    const auto alone = DualEncoder::Load(folder_.path() / "saved" / name);
    EXPECT_TRUE(AreEqual(EncodeTexts(*alone, kind, texts), EncodeTexts(*model_, kind, texts)));
  }
  loaded->Save(folder_.path() / "again");
  EXPECT_TRUE(FilesOf(folder_.path() / "again") == FilesOf(folder_.path() / "saved"));
  EXPECT_EQ(loaded->settings(),
            DualEncoder::Load(folder_.path() / "again", {.towers = GetParam().towers})->settings());
}

// The gradient of a sum of scores between queries and documents, to which both towers and the
// parameters that they share contribute.
double Loss(DualEncoder& model, tensor::Tensor* graph = nullptr) {
  for (const TextKind kind : {TextKind::kQuery, TextKind::kDocument}) {
    model.Prepare(kind, tensor::Precision::kFp32, tensor::Passes::kBoth);
  }
  const tensor::Tensor queries = model.Encode(
      Packed(model, TextKind::kQuery, {"red photo", "fast music server"}), TextKind::kQuery, {});
  const tensor::Tensor documents = model.Encode(
      Packed(model, TextKind::kDocument, {"slow file", "a", "blue game"}), TextKind::kDocument, {});
  const tensor::Tensor loss = SineLoss(tensor::ProductTransposed(queries, documents));
  if (graph) *graph = loss;
  return loss.item<double>();
}

// Gives a leaf the numbers that it has as doubles.
void MakeDouble(const tensor::Tensor& leaf) {
  const tensor::Tensor values = leaf.detach().to(tensor::kDouble);
  leaf.body().type = tensor::kDouble;
  leaf.set_data(values);
}

TEST_P(TwoTowersTest, GradientsEqualCentralDifferencesInFloat64) {
  Perturb(*model_);
  const std::vector<NamedParameter> parameters = model_->Parameters();
  for (const NamedParameter& parameter : parameters) {
    MakeDouble(parameter.value);
  }
  tensor::Tensor loss;
  Loss(*model_, &loss);
  loss.backward();
  const tensor::NoGradGuard no_gradient;
  RandomStream stream({.seed = 8, .purpose = "elements"});
  constexpr double kStep = 1e-5;
  size_t compared = 0;
  for (const NamedParameter& parameter : parameters) {
    const tensor::Tensor gradient = GradientOf(parameter.value);
    ASSERT_TRUE(gradient.defined()) << parameter.name;
    auto* values = parameter.value.data_ptr<double>();
    for (int i = 0; i < 3; ++i) {
      const uint64_t element = stream.Below(static_cast<uint64_t>(parameter.value.numel()));
      const auto set = [&](double value) {
        values[element] = value;
        parameter.value.bump_version();
      };
      const double kept = values[element];
      set(kept + kStep);
      const double above = Loss(*model_);
      set(kept - kStep);
      const double below = Loss(*model_);
      set(kept);
      const double got = gradient.data_ptr<double>()[element];
      EXPECT_NEAR(got, (above - below) / (2 * kStep), 1e-7) << parameter.name;
      compared += got != 0;
    }
  }
  EXPECT_GT(compared, parameters.size());
}

class TowerFoldersTest : public testing::Test {
 protected:
  std::filesystem::path Path(const char* name) const { return folder_.path() / name; }
  static void ExpectError(ExitCode code, const std::string& text,
                          const std::function<void()>& run) {
    try {
      run();
      ADD_FAILURE() << "no error: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), code) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
  TemporaryFolder folder_;
};

TEST_F(TowerFoldersTest, TowersMayHaveBasesLengthsAndPromptsOfTheirOwn) {
  WriteTinyModel(Path("query"), {.seed = 1});
  WriteTinyModel(Path("document"), {.seed = 2, .hidden = 48, .max_positions = 128});
  const auto model = DualEncoder::Load(Path("query"), {.max_query_tokens = 8,
                                                       .query_prompt = "find: ",
                                                       .document_prompt = "text: ",
                                                       .towers = Towers::kSeparate,
                                                       .document_folder = Path("document"),
                                                       .projection = 24});
  model->Save(Path("saved"));
  const auto loaded = DualEncoder::Load(Path("saved"));
  for (const auto& one : {&model, &loaded}) {
    EXPECT_EQ((*one)->max_tokens(TextKind::kQuery), 8U);
    EXPECT_EQ((*one)->max_tokens(TextKind::kDocument), 128U);
    EXPECT_EQ((*one)->prompt(TextKind::kQuery), "find: ");
    EXPECT_EQ((*one)->prompt(TextKind::kDocument), "text: ");
    EXPECT_EQ((*one)->embedding_width(), 24);
  }
  EXPECT_THAT(ReadFile(Path("saved") / "document" / "README.md"),
              HasSubstr("SentenceTransformer(\"path/to/the/folder/of/both\")"));
}

TEST_F(TowerFoldersTest, BasesThatDoNotGoTogether) {
  WriteTinyModel(Path("a"));
  WriteTinyModel(Path("wide"), {.hidden = 48});
  WriteTinyModel(Path("dense"), {.dense = true});
  WriteTinyModel(Path("other"), {.seed = 2, .dense = true});
  ExpectError(ExitCode::kModel, "makes embeddings of 48 numbers", [&] {
    DualEncoder::Load(Path("a"), {.towers = Towers::kSeparate, .document_folder = Path("wide")});
  });
  ExpectError(ExitCode::kModel, "after encoders of one hidden size", [&] {
    DualEncoder::Load(Path("a"), {.towers = Towers::kSeparateSharedProjection,
                                  .document_folder = Path("wide"),
                                  .projection = 8});
  });
  ExpectError(ExitCode::kModel, "has no Dense module for two towers to share",
              [&] { DualEncoder::Load(Path("a"), {.towers = Towers::kSeparateSharedProjection}); });
  ExpectError(ExitCode::kModel, "its last Dense module is not that of", [&] {
    DualEncoder::Load(Path("dense"), {.towers = Towers::kSeparateSharedProjection,
                                      .document_folder = Path("other")});
  });
  WriteFileAtomically(Path("wide") / "config_sentence_transformers.json",
                      R"({"similarity_fn_name": "dot"})");
  ExpectError(ExitCode::kModel, "two towers need one similarity", [&] {
    DualEncoder::Load(
        Path("a"), {.towers = Towers::kSeparate, .document_folder = Path("wide"), .projection = 8});
  });
  ExpectError(ExitCode::kUsage, "needs towers that are not shared",
              [&] { DualEncoder::Load(Path("a"), {.document_folder = Path("wide")}); });
}

TEST_F(TowerFoldersTest, BrokenFoldersAndOptionsThatDoNotFit) {
  WriteTinyModel(Path("a"));
  DualEncoder::Load(Path("a"), {.towers = Towers::kSeparate})->Save(Path("two"));
  const std::string whole = ReadFile(Path("two") / "tandem.json");
  ExpectError(ExitCode::kUsage, "\"separate\"; it cannot be started as \"shared\"",
              [&] { DualEncoder::Load(Path("two"), {.towers = Towers::kShared}); });
  ExpectError(ExitCode::kUsage, "a projection can be given for a base of one encoder",
              [&] { DualEncoder::Load(Path("two"), {.projection = 8}); });
  ExpectError(ExitCode::kUsage, "is the folder that the model comes from",
              [&] { DualEncoder::Load(Path("two"))->Save(Path("two")); });
  ExpectError(ExitCode::kUsage, "is the folder that the model comes from",
              [&] { DualEncoder::Load(Path("two") / "query")->Save(Path("two")); });
  WriteFileAtomically(Path("two") / "tandem.json", R"({"format": 1, "towers": "three"})");
  ExpectError(ExitCode::kModel, "'towers' is \"three\"; \"shared\", \"separate\" or",
              [&] { DualEncoder::Load(Path("two")); });
  WriteFileAtomically(Path("two") / "tandem.json", R"({"format": 2, "towers": "separate"})");
  ExpectError(ExitCode::kModel, "a later version of Tandem wrote the file",
              [&] { DualEncoder::Load(Path("two")); });
  WriteFileAtomically(Path("two") / "tandem.json", whole);
  std::filesystem::remove_all(Path("two") / "document");
  ExpectError(ExitCode::kModel, (Path("two") / "document").native() + ": is missing",
              [&] { DualEncoder::Load(Path("two")); });
}

TEST_F(TowerFoldersTest, EitherKindOfModelMayReplaceTheOther) {
  WriteTinyModel(Path("a"));
  const auto one = DualEncoder::Load(Path("a"));
  const auto two = DualEncoder::Load(Path("a"), {.towers = Towers::kSeparate});
  two->Save(Path("saved"));
  one->Save(Path("saved"));
  EXPECT_FALSE(std::filesystem::exists(Path("saved") / "query"));
  EXPECT_TRUE(DualEncoder::Load(Path("saved"))->shared());
  two->Save(Path("saved"));
  EXPECT_FALSE(DualEncoder::Load(Path("saved"))->shared());
}

}  // namespace
}  // namespace tandem::model
