// Collects the pairs that the sources find, and leaves out those that would teach nothing.
//
//   PairCollector collector(rules);
//   while (source->Next(&document)) collector.Add(document);
//   PairSet pairs = collector.Finish();
//   const data::Dataset dataset = DatasetOf(pairs);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "data/dataset.h"
#include "data/texts/texts.h"
#include "documents/document.h"
#include "documents/pair_source.h"
#include "documents/pairing/near_copies.h"

namespace tandem::documents {

struct PairRules {
  std::vector<std::string> sources;  // names; empty: all
  // Of more pairs, a document keeps so many, drawn by the seed. 0: all.
  size_t per_document = 20;
  uint64_t seed = 0;
  bool links = true;  // whether documents may link to each other
  // Shortens a text that is longer than what a model reads; null: texts stay whole.
  std::function<std::string(std::string text)> shorten;
};

// A query of more texts than this names none of them ("See also"); all its pairs are left out.
inline constexpr size_t kMostTextsOfQuery = 10;

// What became of the pairs that a source found.
struct SourceCounts {
  const PairSource* source = nullptr;
  bool chosen = false;  // else only `found` is counted
  size_t found = 0;
  size_t too_short = 0;    // texts of fewer words than PairSource::least_words, queries of none
  size_t no_target = 0;    // links to what is no document of the folder
  size_t over_limit = 0;   // PairRules::per_document
  size_t near_copies = 0;  // texts that are nearly those of earlier pairs (near_copies.h)
  size_t common = 0;       // queries of more than kMostTextsOfQuery texts
  size_t repeated = 0;     // the same words and the same text again
  size_t not_found = 0;    // by the model of a round trip
  size_t kept = 0;
};

struct Pair {
  uint32_t query = 0;     // of PairSet::queries
  uint32_t document = 0;  // of PairSet::documents
  uint32_t source = 0;    // of PairSet::counts
};

struct PairSet {
  data::Texts documents;             // the texts; their ids are DOCUMENT#N, N from 1
  std::vector<std::string> queries;  // distinct in their words
  std::vector<Pair> pairs;           // by query, then in order of the documents
  std::vector<SourceCounts> counts;  // of every source, in the order of the catalogue
  size_t documents_read = 0;
};

// Holds the texts of pairs and queries, some hundred bytes for each besides, and where links are
// collected the texts of all documents of the folder.
class PairCollector {
 public:
  // Throws UsageError for a source that is not there.
  explicit PairCollector(PairRules rules);

  void Add(const Document& document);
  // The pairs of all documents so far; the collector is then empty.
  PairSet Finish();

 private:
  struct Candidate {
    FoundPair pair;
    uint32_t source;
  };
  struct Waiting {  // a link
    std::string query;
    std::string file;
    uint32_t source;
  };

  std::vector<Candidate> Find(const Document& document);
  void KeepSome(const Document& document, std::vector<Candidate>* candidates);
  void AddPair(std::string_view id, const FoundPair& pair, uint32_t source);
  // The number of the text among `documents`; none for a near-copy.
  std::optional<uint32_t> TextOf(std::string_view id, std::string text);
  void FollowLinks();

  PairRules rules_;
  PairSet set_;
  NearCopies copies_;
  std::unordered_map<uint64_t, uint32_t> texts_;    // hash of a text -> of set_.documents
  std::unordered_set<uint64_t> copied_;             // hashes of near-copies
  std::unordered_map<uint64_t, uint32_t> queries_;  // hash of its words -> of set_.queries
  std::vector<std::vector<Pair>> of_query_;
  std::unordered_map<std::string, size_t> texts_of_document_;
  std::vector<Waiting> waiting_;
  std::unordered_map<std::string, std::string> rests_;  // by id, where links are collected
};

// A data set with a judgement of grade 1 for each pair; the id of a query is SOURCE-N.
data::Dataset DatasetOf(const PairSet& set);

// Keeps the pairs for which `keep` says so; the others count as not found.
void KeepPairs(const std::vector<bool>& keep, PairSet* set);

}  // namespace tandem::documents
