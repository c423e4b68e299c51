// Pooling of the real all-MiniLM-L6-v2 against sentence-transformers, with and without the tokens
// of prompts. Golden numbers: tools/golden/make_pooling_golden.py, which has the same texts and
// prompts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "model/prompt_lengths.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/test_data.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::model {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<std::string> Texts() {
  return {"", "photo", "Which planet is the largest?",
          Repeated("Jupiter is the largest planet, by far. ", 3),
          Repeated("one two three four five ", 80)};
}

std::vector<std::string> Prompts() {
  return {"", "query: ", "Instruct: Given a question, find the answer\nQuery: ",
          Repeated("instruct ", 300)};
}

struct Row {
  size_t text = 0;
  double norm = 0;
  double projection = 0;
  std::vector<double> columns;
};

// The keys are the modes ("mean+cls"), whether the prompt is included, and which prompt.
using PoolingGolden = std::map<std::tuple<std::string, bool, size_t>, std::vector<Row>>;

PoolingGolden ReadGolden() {
  std::ifstream file(std::filesystem::path(TANDEM_SOURCE_DIR) / "tests/model/golden/pooling.tsv");
  PoolingGolden golden;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string modes;
    bool include_prompt = false;
    size_t prompt = 0;
    Row row;
    words >> modes >> include_prompt >> prompt >> row.text >> row.norm >> row.projection;
    for (double value = 0; words >> value;) row.columns.push_back(value);
    golden[{modes, include_prompt, prompt}].push_back(row);
  }
  return golden;
}

// The model with another 1_Pooling/config.json, and without its Normalize module.
void WriteChanged(const std::filesystem::path& model, const std::filesystem::path& folder,
                  const std::string& modes, bool include_prompt) {
  for (const auto& entry : std::filesystem::directory_iterator(model)) {
    const std::string name = entry.path().filename();
    if (name == "modules.json" || name == "1_Pooling" || name == "2_Normalize") continue;
    std::filesystem::create_symlink(std::filesystem::canonical(entry.path()), folder / name);
  }
  std::string listed = "\"" + modes + "\"";
  for (size_t at = listed.find('+'); at != std::string::npos; at = listed.find('+')) {
    listed.replace(at, 1, "\", \"");
  }
  MakeFolder(folder / "1_Pooling");
  WriteFileAtomically(folder / "1_Pooling/config.json",
                      "{\"embedding_dimension\": 384, \"pooling_mode\": [" + listed +
                          "], \"include_prompt\": " + (include_prompt ? "true" : "false") + "}");
  WriteFileAtomically(folder / "modules.json", R"([
      {"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
}

tensor::Tensor Encode(DualEncoder& model, const std::string& prompt) {
  std::vector<std::string> texts = Texts();
  for (std::string& text : texts) text.insert(0, prompt);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const text::Tokenizer& tokenizer = model.tokenizer(TextKind::kQuery);
  const size_t most = model.max_tokens(TextKind::kQuery);
  const text::EncodedTexts ids = tokenizer.EncodeAll(views, most, 1);
  std::vector<std::span<const int32_t>> spans;
  for (size_t b = 0; b < ids.size(); ++b) spans.push_back(ids[b]);
  const std::vector<int32_t> prompts(texts.size(), PromptLengths(tokenizer, most).Of(prompt));
  model.Prepare(TextKind::kQuery, tensor::Precision::kFp32, tensor::Passes::kForward);
  return model.Encode(tensor::Pack(spans, {}, prompts), TextKind::kQuery, {}).detach();
}

// The largest difference of the stored numbers, as a share of the row's norm where that is more
// than 1.
double Difference(const tensor::Tensor& embedding, const Row& want) {
  const auto* got = embedding.data_ptr<float>();
  double projection = 0, weights = 0, worst = 0;
  for (int64_t j = 0; j < embedding.numel(); ++j) {
    const double weight = std::cos(static_cast<double>(j));
    projection += weight * static_cast<double>(got[j]);
    weights += weight * weight;
  }
  worst = std::abs(projection - want.projection) / std::sqrt(weights);
  worst = std::max(worst, std::abs(NormOf(embedding) - want.norm));
  for (size_t c = 0; c < want.columns.size(); ++c) {
    worst = std::max(worst, std::abs(static_cast<double>(got[c]) - want.columns[c]));
  }
  return worst / std::max(1.0, want.norm);
}

TEST(PoolingParity, EqualsSentenceTransformersInEveryMode) {
  const auto folder = ModelDir();
  if (!folder) GTEST_SKIP() << kNoModelDir;
  tensor::SetUpProcess(0);
  const PoolingGolden golden = ReadGolden();
  ASSERT_EQ(golden.size(), 7U * 2 * 4);
  double worst = 0;
  for (const auto& [key, rows] : golden) {
    const auto& [modes, include_prompt, prompt] = key;
    SCOPED_TRACE(modes + (include_prompt ? "" : " without prompt ") + std::to_string(prompt));
    const TemporaryFolder changed;
    WriteChanged(*folder, changed.path(), modes, include_prompt);
    const auto model = DualEncoder::Load(changed.path());
    EXPECT_EQ(model->include_prompt(TextKind::kQuery), include_prompt);
    const tensor::Tensor got = Encode(*model, Prompts()[prompt]);
    ASSERT_EQ(static_cast<size_t>(got.size(0)), rows.size());
    for (const Row& row : rows) {
      const double difference = Difference(got[static_cast<int64_t>(row.text)], row);
      EXPECT_LE(difference, 1e-5) << "text " << row.text;
      worst = std::max(worst, difference);
    }
  }
  RecordProperty("worst_difference", std::to_string(worst));
}

}  // namespace
}  // namespace tandem::model
