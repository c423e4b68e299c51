// Models of two encoders with a Router in front, as sentence-transformers writes them and as we do.
#include "weights/modules/router.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "weights/folders/tower_folders.h"

namespace tandem::weights {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// What sentence-transformers 6.2 writes for Router.for_query_document with a Transformer and mean
// or cls pooling each, and a Normalize after the router.
class RouterFolder : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string task : {"query", "document"}) {
      const std::string transformer = task + "_0_Transformer";
      WriteSmallModel(path() / transformer);
      for (const char* file : {"modules.json", "1_Pooling"}) {
        std::filesystem::remove_all(path() / transformer / file);
      }
      Write(task + "_1_Pooling/config.json",
            task == "query" ? R"({"embedding_dimension": 8, "pooling_mode": "cls"})"
                            : R"({"embedding_dimension": 8, "pooling_mode": "mean"})");
    }
    Write("document_0_Transformer/sentence_bert_config.json", R"({"max_seq_length": 12})");
    Write("modules.json", R"([
      {"idx": 0, "name": "0", "path": "",
       "type": "sentence_transformers.base.modules.router.Router"},
      {"idx": 1, "name": "1", "path": "1_Normalize",
       "type": "sentence_transformers.base.modules.normalize.Normalize"}])");
    Write("config_sentence_transformers.json",
          R"({"prompts": {"query": "Q: ", "document": "D: "}, "similarity_fn_name": "dot",
              "truncate_dim": 4})");
    config_ = Json::parse(R"({
      "types": {
        "query_0_Transformer": "sentence_transformers.base.modules.transformer.Transformer",
        "query_1_Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        "document_0_Transformer": "sentence_transformers.base.modules.transformer.Transformer",
        "document_1_Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling"},
      "structure": {"query": ["query_0_Transformer", "query_1_Pooling"],
                    "document": ["document_0_Transformer", "document_1_Pooling"]},
      "parameters": {"default_route": "document", "allow_empty_key": true,
                     "route_mappings": {}}})");
    WriteConfig();
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  void Write(const std::string& file, const std::string& text) const {
    WriteText(path() / file, text);
  }
  void WriteConfig() const { Write("router_config.json", config_.dump()); }
  TowerFolders Read() const { return ReadTowerFolders(path()); }
  void ExpectBroken(const std::vector<std::string>& texts) const {
    WriteConfig();
    ExpectError([&] { Read(); }, ExitCode::kModel, texts);
  }

  Json config_;

 private:
  TemporaryFolder folder_;
};

TEST_F(RouterFolder, IsReadAsTwoTowers) {
  const TowerFolders folders = Read();
  EXPECT_EQ(folders.file.towers, Towers::kSeparate);
  ASSERT_TRUE(folders.document.has_value());
  EXPECT_EQ(PoolingOf(folders.query).modes, std::vector{PoolingMode::kCls});
  EXPECT_EQ(PoolingOf(*folders.document).modes, std::vector{PoolingMode::kMean});
  EXPECT_EQ(folders.query.tokenizer.max_tokens.tokens, 16U);
  EXPECT_EQ(folders.document->tokenizer.max_tokens.tokens, 12U);
  EXPECT_EQ(folders.query.tokenizer.folder, path() / "query_0_Transformer");
  for (const ModelFolder* folder : {&folders.query, &*folders.document}) {
    EXPECT_EQ(folder->query_prompt(), "Q: ");
    EXPECT_EQ(folder->document_prompt(), "D: ");
    EXPECT_EQ(folder->similarity, Similarity::kDot);
    EXPECT_EQ(folder->truncate_dim, 4);
    EXPECT_TRUE(std::holds_alternative<Normalize>(folder->head.back()));
  }
}

// Each encoder's own file says how its texts are cut; tandem.json would say it before them.
TEST_F(RouterFolder, LengthsOfAKindAreThoseOfItsEncoder) {
  Write("query_0_Transformer/sentence_bert_config.json",
        R"({"max_seq_length": 16, "query_length": 5, "document_length": 6})");
  Write("document_0_Transformer/sentence_bert_config.json",
        R"({"max_seq_length": 12, "query_length": 7, "document_length": 8})");
  EXPECT_EQ(Read().file.max_query_tokens, 5U);
  EXPECT_EQ(Read().file.max_document_tokens, 8U);
  Write("tandem.json", R"({"format": 1, "max_query_tokens": 4})");
  EXPECT_EQ(Read().file.max_query_tokens, 4U);
  EXPECT_EQ(Read().file.max_document_tokens, 8U);
}

TEST_F(RouterFolder, OfBeforeRelease5IsCalledAsym) {
  Write("modules.json", R"([{"path": "0_Asym", "type": "sentence_transformers.models.Asym"}])");
  for (const std::string name :
       {"query_0_Transformer", "query_1_Pooling", "document_0_Transformer", "document_1_Pooling"}) {
    std::filesystem::create_directories(path() / "0_Asym");
    std::filesystem::rename(path() / name, path() / "0_Asym" / name);
  }
  config_["parameters"] = {{"allow_empty_key", true}};
  Write("0_Asym/config.json", config_.dump());
  std::filesystem::remove(path() / "router_config.json");
  const TowerFolders folders = Read();
  EXPECT_EQ(folders.query.encoder_path, path() / "0_Asym/query_0_Transformer");
  EXPECT_EQ(PoolingOf(folders.query).modes, std::vector{PoolingMode::kCls});
  EXPECT_FALSE(std::holds_alternative<Normalize>(folders.query.head.back()));
}

TEST_F(RouterFolder, MappingsOfRoutesGoBeforeTheirNames) {
  config_["structure"]["short"] = config_["structure"]["query"];
  config_["parameters"]["route_mappings"] = {{"('document', 'text')", "short"},
                                             {"(None, None)", "document"}};
  WriteConfig();
  const TowerFolders folders = Read();
  EXPECT_EQ(PoolingOf(folders.query).modes, std::vector{PoolingMode::kMean});
  EXPECT_EQ(PoolingOf(*folders.document).modes, std::vector{PoolingMode::kCls});
}

TEST_F(RouterFolder, ThatSharesAllModulesIsOneEncoder) {
  config_["structure"]["document"] = config_["structure"]["query"];
  WriteConfig();
  const TowerFolders folders = Read();
  EXPECT_EQ(folders.file.towers, Towers::kShared);
  EXPECT_FALSE(folders.document.has_value());
}

TEST_F(RouterFolder, IsChecked) {
  const Json whole = config_;
  config_["structure"] = {{"query", whole["structure"]["query"]}, {"answer", Json::array()}};
  ExpectBroken({"router_config.json", "no route for texts of the task document",
                "its routes: answer, query"});
  config_ = whole;
  config_["structure"]["document"] = {"query_0_Transformer", "document_1_Pooling"};
  ExpectBroken({"both routes have the Transformer query_0_Transformer"});
  config_ = whole;
  config_["structure"]["query"] = {"query_1_Pooling"};
  ExpectBroken({"the route query does not begin with a Transformer"});
  config_ = whole;
  config_["types"]["query_0_Transformer"] = "sentence_transformers.models.StaticEmbedding";
  ExpectBroken({"'sentence_transformers.models.StaticEmbedding' is not supported"});
  config_ = whole;
  config_["types"].erase("query_1_Pooling");
  ExpectBroken({"'query_1_Pooling'"});
  config_ = whole;
  config_["structure"]["query"] = {"../query_0_Transformer"};
  config_["types"]["../query_0_Transformer"] = "sentence_transformers.models.Transformer";
  ExpectBroken({"leads out of the folder"});
  config_ = whole;
  config_["structure"] = 3;
  ExpectBroken({"'structure' is 3; an object expected"});
  config_ = whole;
  std::filesystem::remove_all(path() / "document_0_Transformer");
  ExpectBroken({"document_0_Transformer", "config.json is missing"});
  std::filesystem::remove(path() / "router_config.json");
  ExpectError([&] { Read(); }, ExitCode::kModel, {"config.json"});
}

TEST_F(RouterFolder, IsNoModelOfOneEncoder) {
  ExpectError([&] { ReadModelFolder(path()); }, ExitCode::kModel,
              {"lists a Router: the folder is a model of two encoders"});
}

// A folder that we write is the same model for us, by tandem.json, and for readers that go by the
// router.
TEST_F(RouterFolder, ThatWeWriteIsReadBothWays) {
  const TemporaryFolder out;
  const TowerFolders source = Read();
  for (const Towers towers : {Towers::kSeparate}) {
    const TowerToWrite query{source.query, {.query_prompt = "find: "}};
    const TowerToWrite document{*source.document, {.document_prompt = "text: "}};
    WriteTowerFolders({.towers = towers}, query, document, {}, out.path() / "model");
    for (const bool by_router : {false, true}) {
      if (by_router) std::filesystem::remove(out.path() / "model/tandem.json");
      const TowerFolders read = Read();
      EXPECT_EQ(read.file.towers, towers);
      const TowerFolders written = ReadTowerFolders(out.path() / "model");
      EXPECT_EQ(written.query.query_prompt(), "find: ");
      EXPECT_EQ(written.document->document_prompt(), "text: ");
      EXPECT_EQ(written.query.truncate_dim, 4);
      EXPECT_EQ(PoolingOf(written.query).modes, std::vector{PoolingMode::kCls});
      EXPECT_EQ(PoolingOf(*written.document).modes, std::vector{PoolingMode::kMean});
      EXPECT_EQ(written.document->tokenizer.max_tokens.tokens, 12U);
    }
  }
  const Json router = Json::parse(ReadFile(out.path() / "model/router_config.json"));
  EXPECT_EQ(router["structure"]["query"],
            Json::parse(R"(["query", "query/1_Pooling", "query/2_Normalize"])"));
  EXPECT_EQ(router["parameters"]["default_route"], "document");
  EXPECT_EQ(router["types"]["document"], "sentence_transformers.models.Transformer");
}

TEST_F(RouterFolder, WithOneDenseModuleBehindBothSharesTheProjection) {
  const TemporaryFolder out;
  TowerFolders source = Read();
  const std::vector<float> values(32, 0.5F);
  FolderChanges changes;
  changes.tensors.push_back(Float32Tensor("projection/linear.weight", {4, 8}, values));
  AddProjection(&source.query, 4);
  AddProjection(&*source.document, 4);
  WriteTowerFolders({.towers = Towers::kSeparateSharedProjection}, {source.query, changes},
                    {*source.document, changes}, {}, out.path() / "model");
  const Json router = Json::parse(ReadFile(out.path() / "model/router_config.json"));
  EXPECT_EQ(router["structure"]["document"],
            Json::parse(R"(["document", "document/1_Pooling", "query/2_Dense",
                            "document/3_Normalize"])"));
  std::filesystem::remove(out.path() / "model/tandem.json");
  EXPECT_EQ(ReadTowerFolders(out.path() / "model").file.towers, Towers::kSeparateSharedProjection);
}

}  // namespace
}  // namespace tandem::weights
