// A BEIR folder that a small model can learn: a query shares words with its paired document.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"

namespace tandem {

struct TinyDataOptions {
  int documents = 60;
  int queries = 48;  // of split train; as many of split dev, at most 16
  uint64_t seed = 1;
  int words = 6;  // of a document
};

// Split train: query q has document q as its positive (grade 2), q + 1 with grade 1, q + 2 with
// grade 0. Split dev: further queries, one positive each.
inline void WriteTinyData(const std::filesystem::path& folder,
                          const std::vector<std::string>& words,
                          const TinyDataOptions& options = {}) {
  RandomStream stream({options.seed, "tiny data"});
  std::filesystem::create_directories(folder / "qrels");
  std::string corpus, queries, train = "query-id\tcorpus-id\tscore\n", dev = train;
  std::vector<std::vector<std::string>> documents;
  for (int d = 0; d < options.documents; ++d) {
    documents.emplace_back();
    for (int w = 0; w < options.words; ++w) {
      documents.back().push_back(words[stream.Below(words.size())]);
    }
    corpus += fmt::format("{{\"_id\": \"d{}\", \"title\": \"\", \"text\": \"{} {}\"}}\n", d,
                          fmt::join(documents.back(), " "), d);
  }
  const int dev_queries = std::min(16, options.queries);
  for (int q = 0; q < options.queries + dev_queries; ++q) {
    const int d = q % options.documents;
    // Drawn one after the other: compilers differ in the order of a call's arguments.
    const std::string& second = documents[d][stream.Below(documents[d].size())];
    const std::string& first = documents[d][stream.Below(documents[d].size())];
    queries += fmt::format("{{\"_id\": \"q{}\", \"text\": \"{} {} {}\"}}\n", q, first, second, q);
    if (q < options.queries) {
      train += fmt::format("q{}\td{}\t2\nq{}\td{}\t1\nq{}\td{}\t0\n", q, d, q,
                           (d + 1) % options.documents, q, (d + 2) % options.documents);
    } else {
      dev += fmt::format("q{}\td{}\t2\n", q, d);
    }
  }
  WriteFileAtomically(folder / "corpus.jsonl", corpus);
  WriteFileAtomically(folder / "queries.jsonl", queries);
  WriteFileAtomically(folder / "qrels/train.tsv", train);
  WriteFileAtomically(folder / "qrels/dev.tsv", dev);
}

}  // namespace tandem
