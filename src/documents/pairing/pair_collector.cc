#include "documents/pairing/pair_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "base/random.h"
#include "documents/masking.h"
#include "documents/passages/words.h"
#include "documents/reading/folder_listing.h"

namespace tandem::documents {
namespace {

bool IsChosen(const PairRules& rules, std::string_view name) {
  return rules.sources.empty() ||
         std::find(rules.sources.begin(), rules.sources.end(), name) != rules.sources.end();
}

// A hash of the words, whatever stands between them.
uint64_t HashOfWords(std::string_view text) {
  const std::vector<uint64_t> words = WordHashes(text);
  return TextHash({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)});
}

// A query on one line.
std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (!IsWhiteSpace(c)) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

PairCollector::PairCollector(PairRules rules) : rules_(std::move(rules)) {
  const std::vector<std::string_view> names = config::EntryNames(PairSources());
  for (const std::string& name : rules_.sources) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError(fmt::format("--sources: {}", config::UnknownName(name, names)));
    }
  }
  for (const PairSource* source : PairSources()) {
    set_.counts.push_back({.source = source, .chosen = IsChosen(rules_, source->name)});
  }
}

std::vector<PairCollector::Candidate> PairCollector::Find(const Document& document) {
  std::vector<Candidate> candidates;
  for (uint32_t s = 0; s < set_.counts.size(); ++s) {
    SourceCounts& counts = set_.counts[s];
    counts.source->find(document, [&](FoundPair pair) {
      ++counts.found;
      if (!counts.chosen) return;
      pair.query = OnOneLine(pair.query);
      const bool linked = !pair.linked_file.empty();
      if (WordCount(pair.query) == 0 ||
          (!linked && WordCount(pair.text) < counts.source->least_words)) {
        ++counts.too_short;
        return;
      }
      candidates.push_back({std::move(pair), s});
    });
  }
  return candidates;
}

void PairCollector::KeepSome(const Document& document, std::vector<Candidate>* candidates) {
  if (rules_.per_document == 0 || candidates->size() <= rules_.per_document) return;
  std::vector<size_t> order(candidates->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  RandomStream random({.seed = rules_.seed, .purpose = "pairs", .epoch = TextHash(document.id)});
  random.Shuffle(std::span(order));
  std::vector<bool> kept(candidates->size());
  for (size_t i = 0; i < rules_.per_document; ++i) kept[order[i]] = true;
  std::vector<Candidate> some;
  for (size_t i = 0; i < candidates->size(); ++i) {
    if (kept[i]) {
      some.push_back(std::move((*candidates)[i]));
    } else {
      ++set_.counts[(*candidates)[i].source].over_limit;
    }
  }
  *candidates = std::move(some);
}

std::optional<uint32_t> PairCollector::TextOf(std::string_view id, std::string text) {
  if (rules_.shorten) text = rules_.shorten(std::move(text));
  const uint64_t hash = TextHash(text);
  if (const auto known = texts_.find(hash); known != texts_.end()) return known->second;
  if (copied_.contains(hash)) return std::nullopt;
  if (copies_.Add(text)) {
    copied_.insert(hash);
    return std::nullopt;
  }
  const auto number = static_cast<uint32_t>(set_.documents.size());
  const size_t of_document = ++texts_of_document_[std::string(id)];
  set_.documents.Add(fmt::format("{}#{}", id, of_document), text);
  texts_.emplace(hash, number);
  return number;
}

void PairCollector::AddPair(std::string_view id, const FoundPair& pair, uint32_t source) {
  SourceCounts& counts = set_.counts[source];
  const std::optional<uint32_t> text = TextOf(id, pair.text);
  if (!text) {
    ++counts.near_copies;
    return;
  }
  const auto [at, is_new] =
      queries_.emplace(HashOfWords(pair.query), static_cast<uint32_t>(set_.queries.size()));
  if (is_new) {
    set_.queries.push_back(pair.query);
    of_query_.emplace_back();
  }
  std::vector<Pair>& pairs = of_query_[at->second];
  const bool repeated = std::any_of(pairs.begin(), pairs.end(),
                                    [&](const Pair& one) { return one.document == *text; });
  if (repeated) {
    ++counts.repeated;
  } else if (pairs.size() <= kMostTextsOfQuery) {
    pairs.push_back({at->second, *text, source});
  } else {
    ++counts.common;
  }
}

void PairCollector::Add(const Document& document) {
  ++set_.documents_read;
  std::vector<Candidate> candidates = Find(document);
  KeepSome(document, &candidates);
  for (const auto& [pair, source] : candidates) {
    if (pair.linked_file.empty()) {
      AddPair(document.id, pair, source);
    } else {
      waiting_.push_back({pair.query, pair.linked_file, source});
    }
  }
  if (rules_.links && IsChosen(rules_, "link")) rests_.emplace(document.id, RestOf(document));
}

void PairCollector::FollowLinks() {
  for (const Waiting& link : waiting_) {
    SourceCounts& counts = set_.counts[link.source];
    const std::string id = DocumentIdOf(link.file);
    const std::string folder = link.file.ends_with('/') ? id : id + "/";
    auto found = rests_.end();
    for (const std::string& candidate : {id, id + ".md", id + ".html", folder + "index.md",
                                         folder + "index.html", folder + "README.md"}) {
      if (found == rests_.end()) found = rests_.find(candidate);
    }
    if (found == rests_.end()) {
      ++counts.no_target;
    } else if (WordCount(found->second) < counts.source->least_words) {
      ++counts.too_short;
    } else {
      AddPair(found->first, {.query = link.query, .text = found->second}, link.source);
    }
  }
}

PairSet PairCollector::Finish() {
  FollowLinks();
  for (std::vector<Pair>& pairs : of_query_) {
    const bool common = pairs.size() > kMostTextsOfQuery;
    for (const Pair& pair : pairs) {
      SourceCounts& counts = set_.counts[pair.source];
      ++(common ? counts.common : counts.kept);
      if (!common) set_.pairs.push_back(pair);
    }
  }
  return std::move(set_);
}

data::Dataset DatasetOf(const PairSet& set) {
  data::Dataset dataset;
  dataset.documents = set.documents;
  dataset.has_grades = true;
  std::vector<size_t> of_source(set.counts.size());
  for (size_t i = 0; i < set.pairs.size(); ++i) {
    const Pair& pair = set.pairs[i];
    if (i == 0 || set.pairs[i - 1].query != pair.query) {
      const std::string id =
          fmt::format("{}-{}", set.counts[pair.source].source->name, ++of_source[pair.source]);
      dataset.judged.push_back({.query = static_cast<uint32_t>(dataset.queries.size())});
      dataset.queries.Add(id, set.queries[pair.query]);
    }
    dataset.judged.back().judgements.push_back({.document = pair.document, .grade = 1});
  }
  return dataset;
}

void KeepPairs(const std::vector<bool>& keep, PairSet* set) {
  std::vector<Pair> kept;
  for (size_t i = 0; i < set->pairs.size(); ++i) {
    SourceCounts& counts = set->counts[set->pairs[i].source];
    if (keep[i]) {
      kept.push_back(set->pairs[i]);
    } else {
      --counts.kept;
      ++counts.not_found;
    }
  }
  set->pairs = std::move(kept);
}

}  // namespace tandem::documents
