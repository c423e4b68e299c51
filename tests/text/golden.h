// What the `tokenizers` package makes of many texts, kept as hashes (golden/*.tsv), and the texts.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/crc.h"
#include "text/generated_texts.h"
#include "text/tokenizer.h"

namespace tandem::text {

inline constexpr uint64_t kRandomTexts = 20000;
inline constexpr const char* kGolden = TANDEM_SOURCE_DIR "/tests/text/golden";

struct Golden {
  size_t texts = 0;
  std::string crc;
};

// A file of lines `set TAB number of texts TAB CRC`; tools/golden/make_tokenizer_golden.py says of
// what.
class GoldenFile {
 public:
  explicit GoldenFile(const std::string& name) {
    std::ifstream file(std::string(kGolden) + "/" + name);
    std::string line;
    std::getline(file, line);  // who made it
    while (std::getline(file, line)) {
      const size_t first = line.find('\t');
      const size_t second = line.find('\t', first + 1);
      sets_[line.substr(0, first)] = {std::stoul(line.substr(first + 1, second - first - 1)),
                                      line.substr(second + 1)};
    }
  }

  const std::map<std::string, Golden>& sets() const { return sets_; }

  void Expect(const std::string& name, size_t texts, const Crc& crc) const {
    ASSERT_TRUE(sets_.contains(name)) << name;
    EXPECT_EQ(texts, sets_.at(name).texts) << name;
    EXPECT_EQ(fmt::format("{:08x}", crc.value()), sets_.at(name).crc) << name;
  }

 private:
  std::map<std::string, Golden> sets_;
};

inline std::vector<std::string> GeneratedTexts() {
  std::vector<std::string> texts = EveryCharacter();
  for (uint64_t i = 0; i < kRandomTexts; ++i) texts.push_back(RandomText(i));
  return texts;
}

// All sets of generated texts by name.
inline std::map<std::string, std::vector<std::string>> GeneratedSets() {
  std::map<std::string, std::vector<std::string>> sets;
  sets["generated"] = GeneratedTexts();
  for (uint64_t i = 0; i < kRandomTexts; ++i) {
    sets["clusters"].push_back(ClusterText(i));
    sets["snippets"].push_back(SnippetText(i));
    sets["bytes"].push_back(RandomBytes(i));
  }
  return sets;
}

inline Crc CrcOf(const EncodedTexts& encoded) {
  Crc crc;
  for (size_t b = 0; b < encoded.size(); ++b) crc.AddIds(encoded[b]);
  return crc;
}

inline EncodedTexts EncodeAll(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
                              size_t max_length) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return tokenizer.EncodeAll(views, max_length, 2);
}

// Title and text of each line, as BEIR joins them. Many tests take the same files, which are read
// once.
inline const std::vector<std::string>& ReadTexts(const std::filesystem::path& path) {
  static std::map<std::filesystem::path, std::vector<std::string>> known;
  const auto [place, is_new] = known.try_emplace(path);
  std::vector<std::string>& texts = place->second;
  if (!is_new) return texts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    std::string text = record.value("title", "");
    if (!text.empty()) text += ' ';
    texts.push_back(text + record.at("text").get<std::string>());
  }
  return texts;
}

// Calls `function(file, texts)` for each set "PREFIX/0/FILE" of the golden file, FILE in the folder
// of shared data; returns how many there are.
template <typename Function>
size_t ForEachSharedFile(const GoldenFile& golden, const std::string& prefix,
                         const std::filesystem::path& data, const Function& function) {
  size_t files = 0;
  for (const auto& [name, expected] : golden.sets()) {
    const std::string start = prefix + "/0/";
    if (!name.starts_with(start)) continue;
    const std::string file = name.substr(start.size());
    function(file, ReadTexts(data / file));
    ++files;
  }
  return files;
}

}  // namespace tandem::text
