// Ids of real Unigram tokenizers against those of the `tokenizers` package, as hashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/test_data.h"
#include "text/golden.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

// Added tokens, Metaspace at the beginning of a text only, bytes of unknown characters.
TEST(UnigramFixtures, IdsOfGeneratedTexts) {
  const GoldenFile hashes("unigram.tsv");
  for (const std::string name : {"unigram_added.json", "unigram_bytes.json"}) {
    const std::string file = std::string(kGolden) + "/" + name;
    const PipelineTokenizer tokenizer(ReadTokenizerJson(ReadFile(file), file));
    for (const auto& [kind, texts] : GeneratedSets()) {
      hashes.Expect(name + "/" + kind, texts.size(), CrcOf(EncodeAll(tokenizer, texts, 0)));
    }
  }
}

class UnigramGolden : public testing::TestWithParam<const char*> {};

TEST_P(UnigramGolden, IdsOfAllTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const GoldenFile hashes("unigram.tsv");
  const std::string model = GetParam();
  const auto tokenizer = LoadTokenizer(*shared / "data/tokenizers/json" / model);
  for (const auto& [kind, texts] : GeneratedSets()) {
    hashes.Expect(model + "/" + kind, texts.size(), CrcOf(EncodeAll(*tokenizer, texts, 0)));
  }
  const auto expect = [&](const std::string& file, const std::vector<std::string>& texts) {
    for (const size_t length : {0, 24}) {
      hashes.Expect(fmt::format("{}/shared/{}/{}", model, length, file), texts.size(),
                    CrcOf(EncodeAll(*tokenizer, texts, length)));
    }
  };
  EXPECT_EQ(ForEachSharedFile(hashes, model + "/shared", *shared / "data", expect), 33U);
}

INSTANTIATE_TEST_SUITE_P(Models, UnigramGolden,
                         testing::Values("albert", "t5-pipeline", "xlm-roberta-pipeline"),
                         [](const auto& model) {
                           std::string name = model.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace tandem::text
