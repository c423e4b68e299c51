// Reads what tools/golden/make_embedding_golden.py wrote, and finds the texts that it belongs to.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/texts/texts_file.h"

namespace tandem::model {

inline constexpr size_t kGoldenColumns = 8;

struct GoldenRow {
  size_t tokens = 0;      // with special tokens, cut at the model's limit
  double norm = 0;        // of the embedding
  double projection = 0;  // sum over j of cos(j) * embedding[j]: every column counts
  std::array<double, kGoldenColumns> values{};  // embedding[columns[c]]; 8 decimals
};

struct EmbeddingGolden {
  uint64_t text_hash = 0;
  std::array<size_t, kGoldenColumns> columns{};
  std::vector<GoldenRow> rows;  // one per text of GoldenTexts
};

// Throws std::runtime_error for a file that is not of that form.
inline EmbeddingGolden ReadEmbeddingGolden(const std::filesystem::path& path) {
  std::ifstream file(path);
  EmbeddingGolden golden;
  size_t count = 0;
  bool good = true;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with("# texts ")) {
      good &= static_cast<bool>(words >> word >> word >> count >> word >> word);
      golden.text_hash = std::stoull(word, nullptr, 16);
    } else if (line.starts_with("# columns ")) {
      words >> word >> word;
      for (size_t& column : golden.columns) good &= static_cast<bool>(words >> column);
    } else if (!line.starts_with("#")) {
      GoldenRow& row = golden.rows.emplace_back();
      good &= static_cast<bool>(words >> row.tokens >> row.norm >> row.projection);
      for (double& value : row.values) good &= static_cast<bool>(words >> value);
    }
  }
  if (!good || count == 0 || golden.rows.size() != count) {
    throw std::runtime_error(path.native() + ": no golden file of embeddings");
  }
  return golden;
}

// The sources of tools/golden/make_embedding_golden.py, in its order.
struct GoldenSource {
  const char* file;  // under SHARED_DIR/data
  data::TextRole role;
  size_t count;
};
inline constexpr GoldenSource kGoldenSources[] = {
    {"squad-v1.1/corpus.jsonl", data::TextRole::kDocument, 200},
    {"squad-v1.1/queries.jsonl", data::TextRole::kQuery, 150},
    {"medquad/corpus.jsonl", data::TextRole::kDocument, 200},
    {"medquad/queries.jsonl", data::TextRole::kQuery, 100},
    {"scifact/corpus.jsonl", data::TextRole::kDocument, 150},
    {"scifact/queries.jsonl", data::TextRole::kQuery, 50},
    {"cranfield/corpus.jsonl", data::TextRole::kDocument, 90},
    {"cranfield/queries.jsonl", data::TextRole::kQuery, 57},
};

// The texts by index from the reference data, then the empty one, one of blanks, and a very long
// one.
inline std::vector<std::string> GoldenTexts(const std::filesystem::path& shared_dir) {
  std::vector<std::string> texts;
  std::string long_text;
  for (const GoldenSource& source : kGoldenSources) {
    data::Warnings warnings;
    const data::Texts all =
        data::ReadTexts(shared_dir / "data" / source.file, source.role, &warnings);
    for (size_t i = 0; i < source.count; ++i) {
      texts.emplace_back(all.text(i * all.size() / source.count));
      if (std::string_view(source.file) != "cranfield/corpus.jsonl") continue;
      if (i > 0) long_text += ' ';
      long_text += texts.back();
    }
  }
  texts.emplace_back();
  texts.emplace_back(" \t ");
  texts.push_back(std::move(long_text));
  return texts;
}

// FNV-1a over the texts, each followed by a zero byte: equal to `text_hash` for the same texts.
inline uint64_t GoldenTextHash(std::span<const std::string> texts) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string& text : texts) {
    for (size_t i = 0; i <= text.size(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(text.c_str()[i])) * 0x100000001b3u;
    }
  }
  return hash;
}

// The largest difference between an embedding and a golden row, over the stored columns and the
// projection. The projection's is divided by the norm of its weights to be on a column's scale.
inline double GoldenDifference(std::span<const float> embedding, const EmbeddingGolden& golden,
                               size_t row) {
  const GoldenRow& wanted = golden.rows.at(row);
  double projection = 0;
  double weights = 0;
  for (size_t j = 0; j < embedding.size(); ++j) {
    const double weight = std::cos(static_cast<double>(j));
    projection += weight * static_cast<double>(embedding[j]);
    weights += weight * weight;
  }
  double worst = std::abs(projection - wanted.projection) / std::sqrt(weights);
  for (size_t c = 0; c < kGoldenColumns; ++c) {
    const auto value = static_cast<double>(embedding[golden.columns[c]]);
    worst = std::max(worst, std::abs(value - wanted.values[c]));
  }
  return worst;
}

}  // namespace tandem::model
