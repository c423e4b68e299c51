// What a model folder keeps besides weights: lengths, similarity, scale and bias, lower-casing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "model/encoders/formula_weights.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "weights/folders/tandem_file.h"

namespace tandem::model {
namespace {

using testing::HasSubstr;
using weights::Towers;
using Json = nlohmann::json;

const Json kSmallDecoder = {{"model_type", "qwen2"},    {"vocab_size", FormulaVocabulary()},
                            {"hidden_size", 32},        {"num_hidden_layers", 2},
                            {"num_attention_heads", 2}, {"num_key_value_heads", 1},
                            {"intermediate_size", 48},  {"max_position_embeddings", 64}};

class SavedSettings : public testing::Test {
 protected:
  SavedSettings() { WriteTinyModel(Path("base")); }  // 64 positions, max_seq_length 64
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }
  Json Saved(const std::string& file) const { return Json::parse(ReadFile(Path("saved/" + file))); }
  // Loads the base with these lengths, saves it, and gives the lengths of what was saved.
  std::vector<size_t> SaveWith(std::optional<size_t> query, std::optional<size_t> document) const {
    DualEncoder::Load(Path("base"), {.max_query_tokens = query, .max_document_tokens = document})
        ->Save(Path("saved"));
    const auto loaded = DualEncoder::Load(Path("saved"));
    return {loaded->max_tokens(TextKind::kQuery), loaded->max_tokens(TextKind::kDocument),
            Saved("sentence_bert_config.json")["max_seq_length"].get<size_t>()};
  }

  TemporaryFolder folder_;
};

TEST_F(SavedSettings, LengthsOfBothKindsAreKept) {
  using Lengths = std::vector<size_t>;  // of queries, of documents, max_seq_length
  EXPECT_EQ(SaveWith({}, {}), (Lengths{64, 64, 64}));
  EXPECT_EQ(SaveWith(8, 32), (Lengths{8, 32, 32}));
  EXPECT_EQ(SaveWith(32, 8), (Lengths{32, 8, 32}));
  EXPECT_EQ(SaveWith({}, 32), (Lengths{64, 32, 32}));  // the base's 64 does not count
  EXPECT_EQ(SaveWith(8, {}), (Lengths{8, 64, 64}));    // documents keep what they had
  EXPECT_EQ(SaveWith(0, 32), (Lengths{64, 32, 64}));
  EXPECT_EQ(Saved("tandem.json"),
            Json::parse(R"({"format": 1, "max_query_tokens": 64, "max_document_tokens": 32})"));
  EXPECT_THAT(ReadFile(Path("saved/README.md")),
              HasSubstr("queries of up to 64 tokens and documents of up to 32 tokens"));
}

TEST_F(SavedSettings, AFlagGoesBeforeTandemJsonAndThatBeforeOtherFiles) {
  Write("base/tandem.json", R"({"format": 1, "max_query_tokens": 8, "max_document_tokens": 40})");
  const auto lengths = [&](const LoadOptions& options) {
    const auto model = DualEncoder::Load(Path("base"), options);
    return std::pair(model->max_tokens(TextKind::kQuery), model->max_tokens(TextKind::kDocument));
  };
  EXPECT_EQ(lengths({}), std::pair(size_t{8}, size_t{40}));
  EXPECT_EQ(lengths({.max_query_tokens = 20}), std::pair(size_t{20}, size_t{40}));
  EXPECT_EQ(lengths({.max_document_tokens = 0}), std::pair(size_t{8}, size_t{64}));
  Write("base/tandem.json", R"({"format": 1, "max_query_tokens": 8})");
  EXPECT_EQ(lengths({}), std::pair(size_t{8}, size_t{64}));
  Write("base/tandem.json", R"({"format": 1, "max_document_tokens": 65})");
  try {
    lengths({});
    FAIL() << "no error";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tandem.json: max_document_tokens is 65, but a text"));
  }
}

// A prompt that no text gets is worth a warning only where documents get the folder's own.
TEST_F(SavedSettings, AGivenDocumentPromptNeedsNoWarning) {
  Write("base/config_sentence_transformers.json",
        R"({"prompts": {"query": "Q: ", "passage": "P: "}})");
  const auto said = [&](const LoadOptions& options) {
    const CapturedMessages captured;
    DualEncoder::Load(Path("base"), options);
    return captured.text();
  };
  for (const auto& towers : {std::optional<Towers>(), std::optional(Towers::kSeparate)}) {
    const std::string warning = said({.towers = towers});
    const size_t first = warning.find("documents get no prompt");
    EXPECT_NE(first, std::string::npos) << warning;
    EXPECT_EQ(warning.find("documents get no prompt", first + 1), std::string::npos) << warning;
    EXPECT_EQ(said({.document_prompt = "P: ", .towers = towers}), "");
    EXPECT_EQ(said({.document_prompt = "", .towers = towers}), "");
  }
  // Queries' prompts say nothing about it, and neither does the query tower's folder.
  EXPECT_THAT(said({.query_prompt = "P: "}), HasSubstr("documents get no prompt"));
  WriteTinyModel(Path("other"));
  EXPECT_EQ(said({.towers = Towers::kSeparate, .document_folder = Path("other")}), "");
}

TEST_F(SavedSettings, TwoEncodersKeepALengthEach) {
  Write("base/tandem.json", R"({"format": 1, "max_query_tokens": 8, "max_document_tokens": 40})");
  DualEncoder::Load(Path("base"), {.max_document_tokens = 24, .towers = Towers::kSeparate})
      ->Save(Path("saved"));
  const auto loaded = DualEncoder::Load(Path("saved"));
  EXPECT_EQ(loaded->max_tokens(TextKind::kQuery), 8U);
  EXPECT_EQ(loaded->max_tokens(TextKind::kDocument), 24U);
  EXPECT_EQ(Saved("document/sentence_bert_config.json")["max_seq_length"], 24);
  EXPECT_THAT(ReadFile(Path("saved/query/README.md")), HasSubstr("queries of up to 8 tokens to"));
  // A document tower from elsewhere comes with its own length.
  const auto other = DualEncoder::Load(
      Path("saved/query"), {.towers = Towers::kSeparate, .document_folder = Path("base")});
  EXPECT_EQ(other->max_tokens(TextKind::kDocument), 40U);
}

// Folders were written like this before lengths and similarity were kept.
TEST_F(SavedSettings, OlderFoldersAreRead) {
  Write("base/tandem.json", R"({"format": 1, "objective": "bixse",
      "probability": {"scale": 20, "bias": -9.5, "similarity": "cosine"}})");
  const auto model = DualEncoder::Load(Path("base"));
  EXPECT_EQ(model->max_tokens(TextKind::kQuery), 64U);
  EXPECT_EQ(model->similarity(), "cosine");
  ASSERT_TRUE(model->calibration());
  EXPECT_EQ(model->calibration()->bias, -9.5);
}

TEST_F(SavedSettings, TheSimilarityThatIsSetIsSaved) {
  for (const Towers towers : {Towers::kShared, Towers::kSeparate}) {
    const auto model = DualEncoder::Load(Path("base"), {.towers = towers});
    EXPECT_EQ(model->similarity(), "cosine");
    const std::string settings = model->settings();
    model->set_similarity("dot");
    EXPECT_EQ(model->settings(), settings);  // embeddings stay what they were
    model->Save(Path("saved"));
    EXPECT_EQ(DualEncoder::Load(Path("saved"))->similarity(), "dot");
  }
}

TEST_F(SavedSettings, ScaleAndBiasAreKeptWhileTheScoresAreTheSame) {
  const weights::Calibration calibration{
      .objective = "bixse", .scale = 20.5, .bias = -3.25, .similarity = "dot"};
  for (const Towers towers : {Towers::kShared, Towers::kSeparate}) {
    const auto model = DualEncoder::Load(Path("base"), {.towers = towers});
    EXPECT_FALSE(model->calibration());
    model->set_calibration(calibration);
    model->Save(Path("saved"));
    const auto loaded = DualEncoder::Load(Path("saved"));
    ASSERT_TRUE(loaded->calibration());
    EXPECT_EQ(loaded->calibration()->objective, "bixse");
    EXPECT_EQ(loaded->calibration()->scale, 20.5);
    EXPECT_EQ(loaded->calibration()->bias, -3.25);
    EXPECT_EQ(loaded->calibration()->similarity, "dot");
    loaded->Save(Path("again"));
    EXPECT_EQ(ReadFile(Path("again/tandem.json")), ReadFile(Path("saved/tandem.json")));
    loaded->set_calibration(std::nullopt);
    loaded->Save(Path("again"));
    EXPECT_FALSE(DualEncoder::Load(Path("again"))->calibration());
    if (towers != Towers::kShared) continue;
    EXPECT_TRUE(DualEncoder::Load(Path("saved"), {.towers = Towers::kSeparate})->calibration());
    EXPECT_FALSE(DualEncoder::Load(Path("saved"), {.projection = 8})->calibration());
    EXPECT_FALSE(DualEncoder::Load(Path("saved"),
                                   {.towers = Towers::kSeparate, .document_folder = Path("base")})
                     ->calibration());
  }
}

// Options that change scores, and the same options where they change nothing.
TEST_F(SavedSettings, ScaleAndBiasGoWhereTheScoresAreOthers) {
  const std::string calibration = R"({"format": 1, "objective": "bixse",
      "probability": {"scale": 20, "bias": -9.5, "similarity": "cosine"}})";
  const auto keeps = [&](const std::string& folder, const LoadOptions& options) {
    return DualEncoder::Load(Path(folder), options)->calibration().has_value();
  };
  Write("base/tandem.json", calibration);
  EXPECT_TRUE(keeps("base", {.max_query_tokens = 8, .query_prompt = "Q: "}));
  EXPECT_TRUE(keeps("base", {.pooling = {.mode = weights::PoolingMode::kMean}}));
  EXPECT_FALSE(keeps("base", {.pooling = {.mode = weights::PoolingMode::kCls}}));
  EXPECT_TRUE(keeps("base", {.pooling = {.include_prompt = true}}));
  EXPECT_FALSE(keeps("base", {.pooling = {.include_prompt = false}}));
  EXPECT_TRUE(keeps("base", {.dimensions = 0}));
  EXPECT_TRUE(keeps("base", {.dimensions = 32}));  // all of them
  EXPECT_FALSE(keeps("base", {.dimensions = 8}));
  EXPECT_TRUE(keeps("base", {.training = {.what = Trained::kLora}}));
  DualEncoder::Load(Path("base"), {.training = {.what = Trained::kLora}})
      ->SaveAdapter(Path("adapter"), {"base", ""});
  EXPECT_FALSE(keeps("base", {.training = {.what = Trained::kLora, .adapter = Path("adapter")}}));
  WriteFormulaFolder(Path("decoder"), kSmallDecoder);
  Write("decoder/tandem.json", calibration);
  EXPECT_TRUE(keeps("decoder", {.is_causal = true}));
  EXPECT_FALSE(keeps("decoder", {.is_causal = false}));
  const Json with_head = {{"model_type", "modernbert"},
                          {"vocab_size", FormulaVocabulary()},
                          {"hidden_size", 32},
                          {"num_hidden_layers", 1},
                          {"num_attention_heads", 2},
                          {"intermediate_size", 48},
                          {"max_position_embeddings", 64}};
  WriteFormulaFolder(Path("headed"), with_head,
                     {.prefix = "model.",
                      .further = {{"head.dense.weight", {32, 32}}, {"head.norm.weight", {32}}}});
  Write("headed/tandem.json", calibration);
  EXPECT_TRUE(keeps("headed", {}));
  EXPECT_FALSE(keeps("headed", {.head = true}));
}

// adapter_config.json has no place for it.
TEST_F(SavedSettings, AnAdapterWarnsOfABaseThatReadsOtherTokens) {
  for (const bool is_causal : {false, true}) {
    Json config = kSmallDecoder;
    config["is_causal"] = !is_causal;
    WriteFormulaFolder(Path("decoder"), config);
    const auto save = [&](const std::optional<bool>& causal) {
      const auto model = DualEncoder::Load(
          Path("decoder"), {.is_causal = causal, .training = {.what = Trained::kLora}});
      const CapturedMessages captured;
      model->SaveAdapter(Path("adapter"), {"base", ""});
      std::filesystem::remove_all(Path("adapter"));
      return captured.text();
    };
    EXPECT_THAT(
        save(is_causal),
        HasSubstr(Path("adapter").native() + ": an adapter cannot say that its base became " +
                  (is_causal ? "causal" : "bidirectional") + " (model.is_causal); model/"));
    EXPECT_EQ(save(!is_causal), "");
    EXPECT_EQ(save({}), "");
  }
}

// The folder says do_lower_case and its tokenizer keeps upper case: sentence-transformers
// lower-cases, and so does whoever loads what Tandem writes.
TEST_F(SavedSettings, LowerCasingIsDoneAndWritten) {
  Write("base/tokenizer_config.json", R"({"do_lower_case": false})");
  const auto ids = [&](const std::string& folder) {
    std::vector<int32_t> made;
    DualEncoder::Load(Path(folder))->tokenizer(TextKind::kQuery).Encode("RED Photo", 0, &made);
    return made;
  };
  const std::vector<int32_t> cased = ids("base");
  Write("base/sentence_bert_config.json", R"({"max_seq_length": 64, "do_lower_case": true})");
  const std::vector<int32_t> lowered = ids("base");
  EXPECT_EQ(lowered.size(), 4U);
  EXPECT_NE(lowered, cased);
  const CapturedMessages captured;
  DualEncoder::Load(Path("base"))->Save(Path("saved"));
  EXPECT_EQ(captured.text(), "");
  EXPECT_EQ(Saved("sentence_bert_config.json")["do_lower_case"], true);
  EXPECT_EQ(ids("saved"), lowered);
}

}  // namespace
}  // namespace tandem::model
