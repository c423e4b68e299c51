// What the tests of `tandem score` share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "data/read_dataset.h"
#include "embeddings/layouts/npy.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {

// 48 queries with documents of grades 2, 1 and 0.
class ScoreCommand : public testing::Test {
 protected:
  ScoreCommand() {
    WriteTinyModel(folder_.path() / "model");
    WriteTinyData(folder_.path() / "data", TinyWords());
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);
  }
  ~ScoreCommand() override { ::setenv("TANDEM_CACHE", "", 1); }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  ProgramResult Score(const std::string& as, const std::vector<std::string>& more,
                      const std::string& output, const std::string& pairs = "data") const {
    std::vector<std::string> arguments = {"score",   "--model",   Path("model"),
                                          "--pairs", Path(pairs), "--as",
                                          as,        "--output",  Path(output)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  void WriteModulesWithoutNormalize() const {
    WriteFileAtomically(Path("model/modules.json"), R"([
 {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  }
  data::Dataset Read(const std::string& name) const {
    data::Warnings ignored;
    return data::ReadDataset(Path(name), "auto", "train", &ignored);
  }
  // A query and a document, as texts.
  using Texts = std::pair<std::string, std::string>;
  // The dot products of the texts by `tandem encode`.
  std::vector<double> Dots(const std::vector<Texts>& pairs) const {
    const std::vector<float> queries = Encoded(pairs, "query"),
                             documents = Encoded(pairs, "document");
    return Products(queries, documents, pairs.size());
  }
  // Their cosines.
  std::vector<double> Cosines(const std::vector<Texts>& pairs) const {
    const std::vector<float> queries = Encoded(pairs, "query"),
                             documents = Encoded(pairs, "document");
    std::vector<double> cosines = Products(queries, documents, pairs.size());
    const std::vector<double> of_queries = Products(queries, queries, pairs.size()),
                              of_documents = Products(documents, documents, pairs.size());
    for (size_t i = 0; i < cosines.size(); ++i) {
      cosines[i] /= std::sqrt(of_queries[i] * of_documents[i]);
    }
    return cosines;
  }
  // The texts of a query's judgements, after the data's prompt.
  static std::vector<Texts> TextsOf(const data::Dataset& dataset, const data::JudgedQuery& query) {
    std::vector<Texts> pairs;
    for (const data::Judgement& judgement : query.judgements) {
      pairs.emplace_back(dataset.query_prompt + std::string(dataset.queries.text(query.query)),
                         std::string(dataset.documents.text(judgement.document)));
    }
    return pairs;
  }
  std::vector<double> CosinesOf(const data::Dataset& dataset,
                                const data::JudgedQuery& query) const {
    return Cosines(TextsOf(dataset, query));
  }

  TemporaryFolder folder_;

 private:
  // Of rows [N, E] with the rows of the same numbers.
  static std::vector<double> Products(const std::vector<float>& a, const std::vector<float>& b,
                                      size_t rows) {
    std::vector<double> products(rows);
    const size_t width = a.size() / rows;
    for (size_t i = 0; i < a.size(); ++i) {
      products[i / width] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    return products;
  }
  std::vector<float> Encoded(const std::vector<Texts>& pairs, const std::string& kind) const {
    std::string lines;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::string& text = kind == "query" ? pairs[i].first : pairs[i].second;
      lines += nlohmann::json{{"_id", std::to_string(i)}, {"text", text}}.dump() + "\n";
    }
    const std::string output = Path("encoded");
    std::filesystem::remove_all(output);
    EXPECT_EQ(RunTandem({"encode", "--model", Path("model"), "--input", "-", "--output", output,
                         "--kind", kind, "--quiet"},
                        lines)
                  .exit_code,
              0);
    const embeddings::MappedRows matrix = embeddings::ReadNpy(output + "/embeddings.npy");
    return {matrix.values.begin(), matrix.values.end()};
  }
};

}  // namespace tandem
