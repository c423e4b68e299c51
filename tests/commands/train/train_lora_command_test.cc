// `tandem train` of a part of a model: adapters, frozen parts, the head; and `tandem merge`.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/train/run_fixture.h"
#include "embeddings/layouts/npy.h"
#include "weights/folders/model_folder.h"
#include "weights/safetensors/safetensors.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using weights::SafetensorsFile;

class TrainLora : public EventfulRunTest {
 protected:
  const std::vector<std::string> kLora =
      SetFlags({"model.train=lora", "lora.rank=4", "lora.alpha=8",
                "lora.target_modules=[\"query\", \"value\"]"});

  static std::vector<std::string> With(std::vector<std::string> flags,
                                       const std::vector<std::string>& sets) {
    for (std::string& flag : SetFlags(sets)) flags.push_back(std::move(flag));
    return flags;
  }
  ProgramResult Merge(const std::string& adapter, const std::string& output) const {
    return RunTandem({"merge", Path(adapter), "--base", Path("base"), "--output", Path(output)});
  }
  std::vector<float> Encoded(const std::string& model) const {
    const ProgramResult result =
        RunTandem({"encode", "--model", Path(model), "--input", "-", "--output", Path("embeddings"),
                   "--kind", "query", "--force", "--quiet"},
                  "{\"_id\": \"x\", \"text\": \"alpha beta\"}\n");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const embeddings::MappedRows matrix = embeddings::ReadNpy(Path("embeddings/embeddings.npy"));
    return {matrix.values.begin(), matrix.values.end()};
  }
  std::vector<std::string> NamesIn(const std::string& file) const {
    std::vector<std::string> names;
    const SafetensorsFile tensors(Path(file));
    for (const auto& tensor : tensors.tensors()) names.push_back(tensor.name);
    return names;
  }
  void ExpectSameTensors(const std::string& got, const std::string& want,
                         const std::vector<std::string>& but = {}) const {
    const SafetensorsFile a(Path(got)), b(Path(want));
    ASSERT_EQ(a.tensors().size(), b.tensors().size());
    for (const auto& tensor : b.tensors()) {
      bool changes = false;
      for (const std::string& part : but) changes |= tensor.name.find(part) != std::string::npos;
      EXPECT_EQ(a.Find(tensor.name)->bytes == tensor.bytes, !changes) << tensor.name;
    }
  }
};

TEST_F(TrainLora, LeavesAMergedModelAndAnAdapterAndNothingElseChanges) {
  const ProgramResult result = Train("run", kLora);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("training 1024 of "));  // 2 layers, 2 maps, 4 (32 + 32)
  ExpectSameTensors("run/model/model.safetensors", "base/model.safetensors",
                    {"self.query.weight", "self.value.weight"});
  EXPECT_EQ(NamesIn("run/adapter/adapter_model.safetensors").size(), 8U);
  const ProgramResult merged =
      RunTandem({"merge", Path("run/adapter"), "--base", Path("base"), "--output", Path("merged")});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  ExpectSameTensors("merged/model.safetensors", "run/model/model.safetensors");
  EXPECT_EQ(Encoded("merged"), Encoded("run/model"));
  EXPECT_NE(Encoded("merged"), Encoded("base"));
  // Every epoch lowers the loss: 48 queries, 5 a batch.
  const std::vector<double> losses = MetricOf("run", "loss");
  EXPECT_LT(losses.back(), losses.front());
}

TEST_F(TrainLora, TheAdapterSaysTheRecipesSettings) {
  const ProgramResult result = Train("run", With(kLora, {"lora.rslora=true", "lora.dropout=0.25"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string config = ReadFile(Path("run/adapter/adapter_config.json"));
  for (const char* text :
       {"\"r\": 4,", "\"lora_alpha\": 8.0,", "\"lora_dropout\": 0.25,", "\"use_rslora\": true,"}) {
    EXPECT_THAT(config, HasSubstr(text));
  }
  ASSERT_EQ(
      RunTandem({"merge", Path("run/adapter"), "--base", Path("base"), "--output", Path("merged")})
          .exit_code,
      0);
  ExpectSameTensors("merged/model.safetensors", "run/model/model.safetensors");
}

TEST_F(TrainLora, CheckpointsHoldOnlyWhatIsTrained) {
  ASSERT_EQ(Train("run", With(kLora, {"train.keep_checkpoints=1"})).exit_code, 0);
  const std::string checkpoint = "run/checkpoints/" + CheckpointsOf("run").back();
  EXPECT_EQ(NamesIn(checkpoint + "/weights.safetensors").size(), 8U);
  EXPECT_EQ(NamesIn(checkpoint + "/optimizer.safetensors").size(), 16U);
}

TEST_F(TrainLora, IsTheSameFromEveryCheckpoint) {
  for (const auto& flags :
       {With(kLora, {"lora.dropout=0.2", "train.keep_checkpoints=99"}),
        SetFlags({"model.freeze=[\"embeddings\", \"layers.0\"]", "train.keep_checkpoints=99"})}) {
    const std::string run = fmt::format("run{}", flags.size());
    const ProgramResult result = Train(run, flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ExpectTheSameFromEveryCheckpoint(run, flags, 4);
  }
}

TEST_F(TrainLora, FrozenPartsKeepTheirBytes) {
  const ProgramResult result = Train(
      "run", SetFlags({"model.freeze=[\"embeddings\", \"layers.0\"]", "train.keep_checkpoints=1"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameTensors("run/model/model.safetensors", "base/model.safetensors", {"encoder.layer.1."});
  const std::string checkpoint = "run/checkpoints/" + CheckpointsOf("run").back();
  EXPECT_EQ(NamesIn(checkpoint + "/weights.safetensors").size(), 16U);
}

TEST_F(TrainLora, TheHeadAloneIsTrained) {
  const ProgramResult none = Train("none", SetFlags({"model.train=head"}));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("model.projection makes one"));
  const ProgramResult result = Train("run", SetFlags({"model.train=head", "model.projection=16"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameTensors("run/model/model.safetensors", "base/model.safetensors");
  EXPECT_FALSE(std::filesystem::exists(Path("run/adapter")));
}

// The gradient cache computes the same gradients in chunks.
TEST_F(TrainLora, WorksWithTheGradientCache) {
  const ProgramResult result = Train("run", With(kLora, {"train.chunk_tokens=40"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProgramResult check =
      RunTandem({"train", Path("recipe.toml"), "--check-gradient-cache", "--set",
                 "train.chunk_tokens=40", "--set", "model.train=lora"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
}

TEST_F(TrainLora, GoesOnFromAnAdapter) {
  ASSERT_EQ(Train("first", kLora).exit_code, 0);
  const std::string adapter = "model.adapter=" + Path("first/adapter");
  const ProgramResult result =
      Train("second", SetFlags({"model.train=lora", adapter, "optimizer.learning_rate=0"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameTensors("second/adapter/adapter_model.safetensors",
                    "first/adapter/adapter_model.safetensors");
  const ProgramResult rank = Train("third", SetFlags({"model.train=lora", adapter, "lora.rank=8"}));
  EXPECT_EQ(rank.exit_code, 2);
  EXPECT_THAT(rank.err, HasSubstr("lora.rank"));
}

TEST_F(TrainLora, TwoTowersHaveAdaptersOfTheirOwn) {
  const ProgramResult result =
      Train("run", With(kLora, {"model.towers=separate", "train.accumulate=1"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* tower : {"query", "document"}) {
    const std::string name = fmt::format("merged-{}", tower);
    ASSERT_EQ(RunTandem({"merge", Path(fmt::format("run/adapter/{}", tower)), "--base",
                         Path("base"), "--output", Path(name)})
                  .exit_code,
              0);
    ExpectSameTensors(name + "/model.safetensors",
                      fmt::format("run/model/{}/model.safetensors", tower));
  }
}

TEST_F(TrainLora, TwoTowersGoOnFromTheAdaptersOfARun) {
  const std::vector<std::string> separate = {"model.towers=separate", "train.accumulate=1"};
  ASSERT_EQ(Train("first", With(kLora, separate)).exit_code, 0);
  const ProgramResult result =
      Train("second", With(SetFlags(separate), {"model.train=lora", "optimizer.learning_rate=0",
                                                "model.adapter=" + Path("first/adapter")}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const std::string tower : {"query", "document"}) {
    ExpectSameTensors("second/adapter/" + tower + "/adapter_model.safetensors",
                      "first/adapter/" + tower + "/adapter_model.safetensors");
  }
  const ProgramResult shared =
      Train("third", SetFlags({"model.train=lora", "model.adapter=" + Path("first/adapter")}));
  EXPECT_EQ(shared.exit_code, 2);
  EXPECT_THAT(shared.err, HasSubstr("model.adapter=" + Path("first/adapter") + ": model.adapter"));
  EXPECT_THAT(shared.err, HasSubstr("adapters of two encoders"));
}

TEST_F(TrainLora, TheProjectionComesWithTheAdapter) {
  const ProgramResult result = Train("run", With(kLora, {"model.projection=16"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(Merge("run/adapter", "merged").exit_code, 0);
  EXPECT_EQ(Encoded("merged").size(), 16U);
  EXPECT_EQ(Encoded("merged"), Encoded("run/model"));
}

TEST_F(TrainLora, PromptsAndLengthsComeWithTheAdapter) {
  const ProgramResult result =
      Train("run", With(kLora, {"model.query_prompt=beta ", "model.max_query_tokens=5",
                                "model.max_document_tokens=9"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string adapter = "model.adapter=" + Path("run/adapter");
  const ProgramResult more =
      Train("more", SetFlags({"model.train=lora", adapter, "optimizer.learning_rate=0"}));
  ASSERT_EQ(more.exit_code, 0) << more.err;
  ASSERT_EQ(Merge("run/adapter", "merged").exit_code, 0);
  for (const std::string file :
       {"config_sentence_transformers.json", "sentence_bert_config.json", "tandem.json"}) {
    const std::string expected = ReadFile(Path("run/model/" + file));
    EXPECT_NE(expected,
              std::filesystem::exists(Path("base/" + file)) ? ReadFile(Path("base/" + file)) : "");
    EXPECT_EQ(ReadFile(Path("merged/" + file)), expected) << file;
    EXPECT_EQ(ReadFile(Path("more/model/" + file)), expected) << file;
  }
}

// As PEFT writes it.
TEST_F(TrainLora, AnAdapterWithoutSettingsLeavesTheBases) {
  ASSERT_EQ(Train("run", With(kLora, {"model.query_prompt=beta "})).exit_code, 0);
  for (const char* file : {"config_sentence_transformers.json", "sentence_bert_config.json"}) {
    ASSERT_TRUE(std::filesystem::remove(Path(std::string("run/adapter/") + file)));
  }
  ASSERT_EQ(Merge("run/adapter", "merged").exit_code, 0);
  const weights::ModelFolder merged = weights::ReadModelFolder(Path("merged"));
  const weights::ModelFolder base = weights::ReadModelFolder(Path("base"));
  EXPECT_EQ(merged.prompts, base.prompts);
  EXPECT_EQ(merged.tokenizer.max_tokens.tokens, base.tokenizer.max_tokens.tokens);
}

TEST_F(TrainLora, AResumedRunNeedsTheAdapterThatItBeganWith) {
  ASSERT_EQ(Train("first", kLora).exit_code, 0);
  const std::vector<std::string> flags = SetFlags(
      {"model.train=lora", "model.adapter=" + Path("first/adapter"), "train.keep_checkpoints=2"});
  ASSERT_EQ(Train("run", flags).exit_code, 0);
  std::filesystem::remove_all(Path("run/model"));
  const std::string config = Path("first/adapter/adapter_config.json");
  const std::string begun = ReadFile(config);
  auto changed = nlohmann::ordered_json::parse(begun);
  changed["lora_alpha"] = 1000;
  WriteFileAtomically(config, changed.dump());
  std::vector<std::string> resume = flags;
  resume.push_back("--resume");
  const ProgramResult other = Train("run", resume);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("model.adapter holds other adapters, or adapters of another "
                                   "rank, scale or dropout"));
  WriteFileAtomically(config, begun);
  const ProgramResult same = Train("run", resume);
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

TEST_F(TrainLora, CheckSaysWhatIsTrained) {
  std::vector<std::string> arguments = {"train", Path("recipe.toml"), "--check"};
  arguments.insert(arguments.end(), kLora.begin(), kLora.end());
  const ProgramResult result = RunTandem(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("training 1024 of "));
  EXPECT_THAT(result.out, HasSubstr("frozen parameters"));
  EXPECT_THAT(result.out, HasSubstr("packed copies for products are kept"));
}

TEST_F(TrainLora, MistakesAreFoundBeforeTheFirstStep) {
  const auto expect = [&](const std::vector<std::string>& sets, const std::string& text) {
    const ProgramResult result = Train("failed", SetFlags(sets));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  expect({"lora.rank=4"}, "needs model.train = \"lora\"");
  expect({"model.freeze=layers.7"}, "it has embeddings, layers.0 to layers.1");
  expect({"model.train=lora", "lora.target_modules=q_proj"}, "it has query, key, value, dense");
  expect({"model.train=some"}, "model.train");
  expect({"model.freeze=3"}, "a list of texts");
  expect({"model.freeze=[\"layers.0-99\"]"}, "names layers.99, which is no part of");
  expect({"model.train=lora", "lora.target_modules=[]"},
         "--set lora.target_modules=[]: lora.target_modules is empty");
  expect({"model.train=lora", "model.adapter=/nowhere"},
         "--set model.adapter=/nowhere: model.adapter \"/nowhere\" does not exist");
  expect({"model.train=lora", "model.adapter=\"\""}, "model.adapter is empty");
}

TEST_F(TrainLora, MergingReplacesNothing) {
  ASSERT_EQ(Train("run", kLora).exit_code, 0);
  ASSERT_EQ(Merge("run/adapter", "merged").exit_code, 0);
  const ProgramResult again = Merge("run/adapter", "merged");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(again.err,
            "error: " + Path("merged") + ": exists already; give another folder, or remove it\n");
}

TEST_F(TrainLora, AnAdapterIsShownAndIsNoModel) {
  ASSERT_EQ(Train("run", kLora).exit_code, 0);
  const ProgramResult shown = RunTandem({"inspect", Path("run/adapter"), "--format", "json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto found = nlohmann::json::parse(shown.out);
  EXPECT_EQ(found["kind"], "adapter");
  EXPECT_EQ(found["base"], "base");
  EXPECT_EQ(found["rank"], 4);
  EXPECT_EQ(found["alpha"], 8);
  EXPECT_EQ(found["scale"], 2);
  EXPECT_EQ(found["linear_maps"], 4);
  EXPECT_EQ(found["parameters"], 1024);
  EXPECT_EQ(found["target_modules"], (std::vector<std::string>{"query", "value"}));
  EXPECT_THAT(found["whole_model"].get<std::string>(),
              HasSubstr("tandem merge " + Path("run/adapter") + " --base"));
  EXPECT_EQ(RunTandem({"inspect", Path("run/adapter")}).exit_code, 0);
  const ProgramResult trained = Train("failed", SetFlags({"model.base=" + Path("run/adapter")}));
  EXPECT_EQ(trained.exit_code, 4);
  EXPECT_THAT(trained.err, HasSubstr("holds an adapter"));
  EXPECT_THAT(trained.err, HasSubstr("tandem merge " + Path("run/adapter")));
  // Files of an adapter in a whole model's folder.
  for (const char* name : {"adapter_config.json", "adapter_model.safetensors"}) {
    std::filesystem::copy(Path(std::string("run/adapter/") + name), Path("base"));
  }
  const ProgramResult both = Train("failed", {});
  EXPECT_EQ(both.exit_code, 4);
  EXPECT_THAT(both.err, HasSubstr("tandem merge " + Path("base")));
}

TEST_F(TrainLora, AdaptersOfTwoTowersAreShownTogether) {
  ASSERT_EQ(Train("run", With(kLora, {"model.towers=separate", "train.accumulate=1"})).exit_code,
            0);
  // The towers differ, so that it shows which is which.
  const std::string config = Path("run/adapter/document/adapter_config.json");
  auto settings = nlohmann::json::parse(ReadFile(config));
  settings["lora_alpha"] = 12;
  WriteFileAtomically(config, settings.dump());
  const ProgramResult shown = RunTandem({"inspect", Path("run/adapter"), "--format", "json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto tower = [](const std::string& folder, double alpha) {
    return nlohmann::json{{"folder", folder},   {"base", "base"},   {"rank", 4},
                          {"alpha", alpha},     {"rslora", false},  {"scale", alpha / 4},
                          {"dropout", 0},       {"linear_maps", 4}, {"parameters", 1024},
                          {"has_modules", true}};
  };
  EXPECT_EQ(nlohmann::json::parse(shown.out),
            (nlohmann::json{{"kind", "adapters"},
                            {"towers", {tower("query", 8), tower("document", 12)}},
                            {"whole_model", "tandem merge " + Path("run/adapter/query") +
                                                " --base BASE --output OUTPUT"}}));
  const ProgramResult text = RunTandem({"inspect", Path("run/adapter")});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("kind                adapters\n"));
  std::filesystem::remove(Path("run/adapter/document/adapter_model.safetensors"));
  EXPECT_EQ(RunTandem({"inspect", Path("run/adapter")}).exit_code, 4);
}

TEST_F(TrainLora, AnAdapterOfAnotherBaseIsRefused) {
  ASSERT_EQ(Train("run", kLora).exit_code, 0);
  WriteTinyModel(Path("wide"), {.hidden = 48});
  WriteTinyModel(Path("short"), {.layers = 1});
  for (const auto& [base, text] : {std::pair("wide", "the adapter is of another base"),
                                   std::pair("short", "which the base has not")}) {
    const ProgramResult merged =
        RunTandem({"merge", Path("run/adapter"), "--base", Path(base), "--output", Path("merged")});
    EXPECT_EQ(merged.exit_code, 4) << merged.err;
    EXPECT_THAT(merged.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(Path("merged")));
  }
  WriteTinyModel(Path("renamed"));
  const ProgramResult renamed = RunTandem(
      {"merge", Path("run/adapter"), "--base", Path("renamed"), "--output", Path("merged")});
  EXPECT_EQ(renamed.exit_code, 0);
  EXPECT_THAT(renamed.err, HasSubstr("says that it is an adapter of"));
}

}  // namespace
}  // namespace tandem
