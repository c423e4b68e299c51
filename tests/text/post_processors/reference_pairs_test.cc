// Published token strings and ids of BERT's tokenizer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

std::unique_ptr<const Tokenizer> BertUncased(const std::filesystem::path& shared) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(shared / "data/tokenizers/bert-base-uncased-vocab.txt",
                             folder.path() / "vocab.txt");
  return LoadTokenizer(folder.path());
}

// The ids without [CLS] and [SEP].
std::vector<int32_t> InnerIds(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  tokenizer.Encode(text, 0, &ids);
  EXPECT_GE(ids.size(), 2U);
  return {ids.begin() + 1, ids.end() - 1};
}

std::string JoinedTokens(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string joined;
  for (const int32_t id : ids) {
    if (!joined.empty()) joined += ' ';
    joined += tokenizer.token(id);
  }
  return joined;
}

TEST(ReferencePairs, AllWordPiecePairsAreEqual) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const auto tokenizer = BertUncased(*shared);
  std::ifstream file(*shared / "data/tokenizers/bert-wordpiece-pairs.tsv");
  size_t pairs = 0;
  size_t different = 0;
  for (std::string line; std::getline(file, line); ++pairs) {
    // id, text, tokens, 1; a text may hold tabs itself
    const size_t text = line.find('\t') + 1;
    const size_t last = line.rfind('\t');
    const size_t tokens = line.rfind('\t', last - 1) + 1;
    ASSERT_LT(text, tokens) << line;
    const std::string got =
        JoinedTokens(*tokenizer, InnerIds(*tokenizer, line.substr(text, tokens - 1 - text)));
    if (got != line.substr(tokens, last - tokens) && ++different <= 3) ADD_FAILURE() << line;
  }
  EXPECT_EQ(different, 0U);
  EXPECT_EQ(pairs, 47282U);
}

TEST(ReferencePairs, LlamaCppTestStringsOfBgeAreEqual) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const auto tokenizer = BertUncased(*shared);
  const std::filesystem::path folder = *shared / "data/tokenizers/gguf-vocabs";
  const std::string texts = ReadFile(folder / "ggml-vocab-bert-bge.gguf.inp");
  std::ifstream expected(folder / "ggml-vocab-bert-bge.gguf.out");
  const std::string separator = "\n__ggml_vocab_test__\n";
  size_t count = 0;
  for (size_t start = 0; start <= texts.size(); ++count) {
    const size_t end = std::min(texts.find(separator, start), texts.size());
    const std::string text = texts.substr(start, end - start);
    start = end + separator.size();
    std::string line;
    std::getline(expected, line);  // the last text is empty and so is its line, without an end
    std::istringstream numbers(line);
    std::vector<int32_t> ids;
    for (int32_t id = 0; numbers >> id;) ids.push_back(id);
    EXPECT_EQ(InnerIds(*tokenizer, text), ids) << text;
  }
  EXPECT_EQ(count, 47U);
}

}  // namespace
}  // namespace tandem::text
