#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/inspect/inspect_fixture.h"
#include "embeddings/layouts/npy.h"
#include "support/test_data.h"

namespace tandem {
namespace {

using testing::HasSubstr;

TEST_F(InspectCommand, ModelAsText) {
  WriteModel();
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "kind                model\n"
            "architecture        bert\n"
            "encoder             layers 2, hidden size 8, heads 2, key value heads 2,\n"
            "                    head width 4, intermediate size 16, gated false,\n"
            "                    activation gelu, norm post-norm, layer norm, epsilon 1e-12,\n"
            "                    vocabulary size 32, max positions 24, hidden dropout 0.1,\n"
            "                    attention dropout 0.2\n"
            "attention\n"
            "  0-1 bidirectional, scale 0.5\n"
            "modules\n"
            "  Transformer bert\n"
            "  Pooling     mean\n"
            "  Normalize\n"
            "embedding width     8\n"
            "parameters          1680\n"
            "encoder tensors     F32 37\n"
            "tokenizer           tokens 32, special tokens 2\n"
            "max tokens          16\n"
            "max tokens from     sentence_bert_config.json\n"
            "lower case          false\n"
            "similarity          cosine\n"
            "query prompt        none\n"
            "document prompt     none\n"
            "prompts             none\n"
            "default prompt name none\n"
            "carried tensors\n"
            "  name                     dtype  shape   bytes\n"
            "  embeddings.position_ids  I64    [1,24]    192\n"
            "  pooler.dense.bias        F32    [8]        32\n"
            "  pooler.dense.weight      F32    [8,8]     256\n");
}

TEST_F(InspectCommand, ModelAsJson) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  const ProgramResult result = RunTandem({"inspect", model->native(), "--format", "json"});
  EXPECT_EQ(result.exit_code, 0);
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["kind"], "model");
  EXPECT_EQ(found["parameters"], 22'565'376);
  EXPECT_EQ(found["max_tokens"], 256);
  EXPECT_EQ(found["encoder"]["layers"], 6);
  EXPECT_EQ(found["carried_tensors"][0]["name"], "embeddings.position_ids");
}

TEST_F(InspectCommand, LengthsScaleAndBiasOfTandemJson) {
  WriteModel();
  Write("model/tandem.json", R"({"format": 1, "max_query_tokens": 5, "max_document_tokens": 12,
                          "objective": "bixse", "probability": {"scale": 20.5, "bias": -9.25,
                          "similarity": "cosine"}})");
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("max query tokens    5\n"));
  EXPECT_THAT(result.out, testing::HasSubstr("max document tokens 12\n"));
  EXPECT_THAT(result.out,
              testing::HasSubstr(
                  "probability         method objective, objective bixse, scale 20.5, bias -9.25,\n"
                  "                    similarity cosine\n"));
  // Fitted to judgements, beside what the objective had learned.
  Write("model/tandem.json", R"({"format": 1, "probability": {"method": "isotonic",
      "scores": [0.1, 0.4, 0.5], "probabilities": [0, 0.25, 0.75], "similarity": "dot",
      "fitted_on": "mine, split dev"}, "learned": {"objective": "bixse", "scale": 3, "bias": -1}})");
  const ProgramResult fitted = Inspect("model");
  EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(
      fitted.out,
      testing::HasSubstr("probability         method isotonic, scores 3, least probability 0.0,\n"
                         "                    greatest probability 0.75, similarity dot,\n"
                         "                    fitted on mine, split dev\n"));
  EXPECT_THAT(fitted.out,
              testing::HasSubstr("learned             objective bixse, scale 3.0, bias -1.0\n"));
}

TEST_F(InspectCommand, PlainFolderSaysThatItsPoolingIsAssumed) {
  WriteModel();
  std::filesystem::remove(Path("model/modules.json"));
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, Path("model") + ": no modules.json; read as encoder with mean pooling\n");
}

TEST_F(InspectCommand, Safetensors) {
  const std::string bytes("0123");
  const std::vector<weights::TensorToWrite> tensors = {
      {.name = "a\x1b[2J", .dtype = weights::Dtype::kF32, .shape = {1}, .bytes = bytes},
      {.name = "b", .dtype = weights::Dtype::kU8, .shape = {2, 2}, .bytes = bytes}};
  weights::WriteSafetensors(Path("w.safetensors"), tensors);
  EXPECT_EQ(Inspect("w.safetensors").out,
            "kind                safetensors\n"
            "metadata            format pt\n"
            "elements            5\n"
            "tensors\n"
            "  name   dtype  shape  bytes\n"
            "  a?[2J  F32    [1]        4\n"  // the escape does not reach the terminal
            "  b      U8     [2,2]      4\n");
  const auto found = nlohmann::json::parse(Inspect("w.safetensors", "json").out);
  EXPECT_EQ(found["tensors"][1],
            nlohmann::json::parse(R"({"name": "b", "dtype": "U8", "shape": [2, 2], "bytes": 4})"));
}

TEST_F(InspectCommand, DataFiles) {
  embeddings::WriteNpy(Path("e.npy"), 2, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Inspect("e.npy").out,
            "kind                npy\nrows                3\ncolumns             2\n");
  Write("c.jsonl", "{\"_id\": \"1\", \"title\": \"ab\", \"text\": \"cde\"}\n");
  EXPECT_EQ(Inspect("c.jsonl").out,
            "kind                texts\ntexts               1\nbytes of text       6\n"
            "empty               0\ncopies              0\nexact               true\n");
  Write("r.trec", "q Q0 d 1 0.5 t\nq Q0 e 2 0.4 t\np Q0 d 1 0.3 t\n");
  EXPECT_EQ(Inspect("r.trec").out,
            "kind                run\nqueries             2\nresults             3\n"
            "results per query   lowest 1, median 1, highest 2\n");
  Write("j.qrels", "q 0 d 1\nq 0 e 0\np 0 d 1\n");
  EXPECT_EQ(Inspect("j.qrels").out,
            "kind                judgements\nqueries             2\njudgements          3\n"
            "documents           2\nexact               true\nrepeated            0\n"
            "relevant per query  lowest 1, median 1, highest 1\n"
            "lowest grade        0.0\nhighest grade       1.0\n"
            "grades\n  0.0 1\n  1.0 2\n");
}

TEST_F(InspectCommand, AModelNeedsATokenizerThatFits) {
  weights::WriteSmallModel(Path("model"));
  const ProgramResult missing = Inspect("model");
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("tokenizer.json"));
  Write("model/tokenizer.json", "{");
  EXPECT_EQ(Inspect("model").exit_code, 4);
  std::filesystem::remove(Path("model/tokenizer.json"));
  WriteVocabulary(33);
  const ProgramResult large = Inspect("model");
  EXPECT_EQ(large.exit_code, 4);
  // BERT's class adds [MASK], which the file does not have.
  EXPECT_THAT(large.err, HasSubstr("its tokenizer has 34 tokens and its word embeddings 32 rows"));
}

TEST_F(InspectCommand, BytesOfARunByItsParts) {
  Write("run/metrics.jsonl", "{\"event\":\"step\",\"step\":1,\"loss\":0.5}\n");
  const size_t log = std::filesystem::file_size(Path("run/metrics.jsonl"));
  std::filesystem::create_directories(Path("run/model"));
  Write("run/model/model.safetensors", "0123456789");
  std::filesystem::create_directories(Path("run/checkpoints/step-00000001"));
  Write("run/checkpoints/step-00000001/state.json", "{}\n");
  std::filesystem::create_directories(Path("run/checkpoints/best-00000001"));
  Write("run/checkpoints/best-00000001/weights.safetensors", "01234");
  Write("run/notes.txt", "mine");
  const auto found = nlohmann::json::parse(Inspect("run", "json").out);
  EXPECT_EQ(found["bytes"], (nlohmann::json{{"model", 10},
                                            {"best_weights", 5},
                                            {"checkpoints", 3},
                                            {"logs", log},
                                            {"other", 4},
                                            {"all", 22 + log}}));
}

TEST_F(InspectCommand, ATrainingRun) {
  Write("run/recipe.resolved.toml",
        "seed = 7\n[model]\nbase = \"b\"\n[data]\ntrain = \"d\"\n[objective]\nname = "
        "\"infonce\"\n[train]\nbatch = 8\n");
  Write("run/metrics.jsonl",
        "{\"event\": \"step\", \"step\": 1, \"loss\": 0.5, \"learning_rate\": 0.1}\n"
        "{\"event\": \"validation\", \"step\": 1, \"validation_mrr\": 0.25, \"best\": true}\n"
        "{\"event\": \"validation\", \"step\": 2, \"validation_mrr\": 0.125, \"best\": false}\n"
        "{\"event\": \"step\", \"step\": 3, \"los");  // killed while it wrote
  auto under_way = nlohmann::json::parse(Inspect("run", "json").out);
  EXPECT_EQ(under_way["kind"], "training_run");
  EXPECT_EQ(under_way["finished"], false);
  EXPECT_EQ(under_way["objective"], "infonce");
  EXPECT_EQ(under_way["queries_per_step"], 8);
  EXPECT_FALSE(under_way.contains("most_tokens_per_step"));
  EXPECT_EQ(under_way["step"], 2);
  EXPECT_EQ(under_way["best"], nlohmann::json::parse(R"({"step": 1, "mrr": 0.25})"));
  EXPECT_EQ(under_way["last_line"],
            nlohmann::json::parse(R"({"step": 1, "loss": 0.5, "learning_rate": 0.1})"));
  EXPECT_EQ(under_way["validations"].size(), 2U);
  // Lines that earlier versions wrote, which a resumed run may continue, show the same.
  Write("run/metrics.jsonl",
        "{\"step\": 1, \"loss\": 0.5, \"learning_rate\": 0.1}\n"
        "{\"step\": 1, \"validation\": {\"mrr\": 0.25}, \"best\": true}\n"
        "{\"event\": \"validation\", \"step\": 2, \"validation_mrr\": 0.125, \"best\": false}\n"
        "{\"step\": 3, \"los");  // killed while it wrote
  auto earlier = nlohmann::json::parse(Inspect("run", "json").out);
  for (auto* found : {&earlier, &under_way}) found->erase("bytes");  // of the log
  EXPECT_EQ(earlier, under_way);
  Write("run/metrics.jsonl",
        "{\"event\": \"validation\", \"step\": 1, \"validation_mrr\": 0.123456789, \"best\": "
        "true}\n");
  EXPECT_THAT(Inspect("run").out, testing::ContainsRegex("0\\.123457[^0-9]"));
  EXPECT_EQ(nlohmann::json::parse(Inspect("run", "json").out)["best"]["mrr"], 0.123456789);
}

TEST_F(InspectCommand, RunsOfSeveralSeeds) {
  const std::string log =
      "{\"event\": \"validation\", \"step\": 4, \"validation_mrr\": 0.25, \"best\": true}\n";
  Write("runs/seed-10/metrics.jsonl", log);
  Write("runs/seed-9/metrics.jsonl", "{\"step\": 3, \"loss\": 0.5}\n");
  Write("runs/seed-x/metrics.jsonl", log);
  Write("runs/seed-09/metrics.jsonl", log);  // of somebody else's
  Write("runs/seed-11/other", "");
  const auto found = nlohmann::json::parse(Inspect("runs", "json").out);
  EXPECT_EQ(found["kind"], "training_runs_of_seeds");
  ASSERT_EQ(found["runs"].size(), 2U);
  EXPECT_THAT(found["runs"][0]["run"].get<std::string>(), testing::EndsWith("seed-9"));
  EXPECT_EQ(found["runs"][0]["step"], 3);
  EXPECT_EQ(found["runs"][0]["finished"], false);
  EXPECT_EQ(found["runs"][1]["mrr"], 0.25);
  EXPECT_EQ(found["runs"][1]["best_step"], 4);
  EXPECT_EQ(found["runs"][1]["bytes"], log.size());
  EXPECT_GT(found["bytes"], log.size());
}

TEST_F(InspectCommand, ACheckpoint) {
  Write("step-00000003/state.json",
        R"({"loop": {"step": 3, "queries": 24, "stopped_early": false, "names": ["a"]}})");
  Write("step-00000003/weights.safetensors", "0123456789");
  const ProgramResult result = Inspect("step-00000003", "json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out),
            nlohmann::json::parse(R"({"kind": "checkpoint", "step": 3, "queries": 24,
                                      "stopped_early": false, "weights": {"bytes": 10}})"));
  Write("step-00000003/state.json", "[");
  EXPECT_EQ(Inspect("step-00000003").exit_code, 4);
}

// Its logs are lines of JSON, but no texts.
TEST_F(InspectCommand, ALogOfARunShowsTheRun) {
  Write("run/recipe.resolved.toml",
        "[model]\nbase = \"b\"\n[data]\ntrain = \"d\"\n[objective]\nname = \"infonce\"\n");
  Write("run/metrics.jsonl", "{\"step\": 3, \"loss\": 0.5}\n");
  Write("run/timing.jsonl", "{\"version\": \"0\"}\n");
  const ProgramResult whole = Inspect("run");
  EXPECT_THAT(whole.out, HasSubstr("training_run"));
  for (const char* log : {"run/metrics.jsonl", "run/timing.jsonl"}) {
    EXPECT_EQ(Inspect(log).out, whole.out) << log;
  }
  // Alone it is what its name says; another file of lines beside it is not.
  Write("copied/metrics.jsonl", "{\"step\": 4, \"loss\": 0.5}\n");
  EXPECT_EQ(nlohmann::json::parse(Inspect("copied/metrics.jsonl", "json").out)["step"], 4);
  Write("copied/texts.jsonl", "{\"_id\": \"1\", \"text\": \"a\"}\n");
  EXPECT_THAT(Inspect("copied/texts.jsonl").out,
              testing::StartsWith("kind                texts\n"));
}

TEST_F(InspectCommand, EmbeddingsNeedAnIdForEachRow) {
  std::filesystem::create_directory(Path("e"));
  embeddings::WriteNpy(Path("e/embeddings.npy"), 2, std::vector<float>{1, 2, 3, 4});
  Write("e/ids.txt", "a\nb\n");
  EXPECT_EQ(Inspect("e").out,
            "kind                embeddings\ntexts               2\nwidth               2\n"
            "ids                 2\n");
  Write("e/ids.txt", "a\n");
  EXPECT_EQ(Inspect("e").exit_code, 3);
}

TEST_F(InspectCommand, WhatCannotBeReadIsAnError) {
  ExpectError("none", 2, ": there is no such file or folder");
  ExpectError("none.safetensors", 4, ": cannot be read: No such file or directory");
  std::filesystem::create_directory(Path("empty"));
  ExpectError("empty", 2,
              ": nothing in this folder tells what it is; known are models (modules.json or "
              "config.json), adapters (adapter_config.json), training runs (recipe.resolved.toml) "
              "and runs of several seeds (seed-N), checkpoints (state.json), BEIR "
              "data sets (corpus.jsonl and queries.jsonl), indexes (index.json), the cache (files "
              "named .embeddings) and embeddings "
              "(embeddings.npy, or parts of `tandem encode --shard`)");
  Write("w.safetensors", std::string("\xff\0\0\0\0\0\0\0{}", 10));
  ExpectError("w.safetensors", 4,
              ": the header claims 255 bytes, but the file has only 2 after its length; it is cut "
              "short or no safetensors file");
}

TEST_F(InspectCommand, UnsupportedArchitectureNamesTheSupportedOnes) {
  Write("t5/config.json", R"({"model_type": "albert"})");
  const ProgramResult result = Inspect("t5");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err,
            "error: " + Path("t5/config.json") +
                ": the architecture 'albert' is not supported; supported: bert, roberta, "
                "xlm-roberta, camembert, distilbert, mpnet, modernbert, t5, llama, "
                "mistral, qwen2, qwen3, gemma3_text; did you mean bert?\n");
}

TEST_F(InspectCommand, PicklesAreNotLoaded) {
  weights::WriteSmallModel(Path("model"));
  std::filesystem::rename(Path("model/model.safetensors"), Path("model/pytorch_model.bin"));
  const ProgramResult result = Inspect("model");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("pytorch_model.bin: the weights are there only as a pickle, "
                                    "which can run code and is never loaded; convert them"));
}

TEST_F(InspectCommand, BrokenDataIsExitThreeAndUnknownEndingsExitTwo) {
  Write("e.npy", "no array");
  ExpectError("e.npy", 3, ": is not a NumPy .npy file of version 1");
  Write("picture.png", "x");
  ExpectError("picture.png", 2,
              ": the ending does not tell what the file holds; known endings are .safetensors, "
              ".npy, .embeddings, .jsonl, .jsonl.gz, .csv, .csv.gz, .trec, .run, .tsv, .tsv.gz, "
              ".qrels");
  Write("train.parquet", "PAR1");
  ExpectError(
      "train.parquet", 3,
      ": is a Parquet file, which this program does not read. Where Python has pyarrow, this "
      "makes JSON lines of it: python3 -c \"import json, pyarrow.parquet as p; "
      "[print(json.dumps(r, default=str)) for r in p.read_table('" +
          Path("train.parquet") +
          "').to_pylist()]\" > train.jsonl; the tandem of the Python package (./dev wheel) reads "
          "it "
          "as it is (docs/parquet.md)");
}

}  // namespace
}  // namespace tandem
