#include "train/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "data/beir.h"
#include "data/fingerprint.h"
#include "data/sentence_transformers.h"
#include "data/text_hash.h"

namespace tandem::train {
namespace {

data::Dataset ReadDataset(const std::string& path, const std::string& format,
                          const std::string& split) {
  const bool columns = format == "sentence_transformers" ||
                       (format == "auto" && std::filesystem::is_regular_file(path));
  return columns ? data::ReadColumns(path) : data::LoadBeir(path, split);
}

using data::Fingerprint;

void Add(Fingerprint& fingerprint, const data::Texts& texts, std::span<const uint64_t> hashes) {
  for (size_t i = 0; i < texts.size(); ++i) {
    fingerprint.Add(texts.id(i));
    fingerprint.Add(hashes[i]);
  }
}

void Add(Fingerprint& fingerprint, std::span<const data::Judgement> judgements) {
  fingerprint.Add(uint64_t{judgements.size()});
  for (const data::Judgement& judgement : judgements) {
    fingerprint.Add(uint64_t{judgement.document});
    fingerprint.Add(judgement.grade);
  }
}

std::vector<uint64_t> HashesOf(const data::Texts& texts) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < texts.size(); ++i) hashes.push_back(data::TextHash(texts.text(i)));
  return hashes;
}

uint64_t FingerprintOf(const RunData& data) {
  Fingerprint fingerprint;
  Add(fingerprint, data.set.queries, data.set.query_hashes);
  Add(fingerprint, data.set.documents, data.set.document_hashes);
  for (const data::TrainingQuery& query : data.set.examples) {
    fingerprint.Add(uint64_t{query.query});
    Add(fingerprint, query.positives);
    Add(fingerprint, query.others);
  }
  if (data.validation) {
    Add(fingerprint, data.validation->queries, HashesOf(data.validation->queries));
    Add(fingerprint, data.validation->documents, HashesOf(data.validation->documents));
    for (const data::JudgedQuery& query : data.validation->judged) {
      fingerprint.Add(uint64_t{query.query});
      Add(fingerprint, query.judgements);
    }
  }
  return fingerprint.value();
}

// Splits data.set.examples into training and held_out; both stay in file order.
void HoldOut(const config::LoadedRecipe& loaded, RunData& data) {
  const config::Recipe& recipe = loaded.recipe;
  const auto total = static_cast<uint32_t>(data.set.examples.size());
  const auto hash_of = [&data](uint32_t e) {
    return data.set.query_hashes[data.set.examples[e].query];
  };
  const int64_t wanted = recipe.validation.holdout->Of(total);
  std::vector<uint32_t> order(total);
  std::iota(order.begin(), order.end(), 0);
  RandomStream({static_cast<uint64_t>(recipe.seed), "holdout"}).Shuffle(std::span(order));
  std::unordered_set<uint64_t> held;  // query texts
  for (int64_t i = 0; i < std::min<int64_t>(wanted, total); ++i) held.insert(hash_of(order[i]));
  data.training.clear();
  for (uint32_t e = 0; e < total; ++e) {
    (held.contains(hash_of(e)) ? data.held_out : data.training).push_back(e);
  }
  if (data.training.empty() || data.held_out.empty()) {
    throw loaded.ErrorAt(
        "validation.holdout",
        fmt::format("leaves {} of {} queries for validation and {} for training; both need one",
                    data.held_out.size(), total, data.training.size()));
  }
}

}  // namespace

JudgedCorpus RunData::ValidationCorpus() const {
  if (validation) return {&validation->documents, &validation->queries, validation->judged};
  JudgedCorpus corpus{&set.documents, &set.queries, {}};
  for (const uint32_t e : held_out) {
    const data::TrainingQuery& example = set.examples[e];
    data::JudgedQuery query{.query = example.query, .judgements = example.positives};
    query.judgements.insert(query.judgements.end(), example.others.begin(), example.others.end());
    corpus.judged.push_back(std::move(query));
  }
  return corpus;
}

RunData ReadRunData(const config::LoadedRecipe& loaded) {
  const config::Recipe& recipe = loaded.recipe;
  RunData data;
  data.set =
      data::BuildTrainingSet(ReadDataset(recipe.data.train, recipe.data.format, recipe.data.split),
                             recipe.data.positive_grade);
  if (data.set.documents.size() < 2) {
    throw DataError(recipe.data.train, 0, "",
                    "the corpus has one document, so that nothing can be a negative; training "
                    "needs at least two");
  }
  data.training.resize(data.set.examples.size());
  std::iota(data.training.begin(), data.training.end(), 0);
  if (recipe.validation.data) {
    data.validation = ReadDataset(*recipe.validation.data, "auto", recipe.validation.split);
  }
  data.fingerprint = FingerprintOf(data);
  if (recipe.validation.holdout) HoldOut(loaded, data);
  return data;
}

sampling::Examples MakeExamples(const data::TrainingSet& set, double positive_grade,
                                std::span<const uint32_t> which) {
  sampling::Examples examples(positive_grade, set.document_hashes);
  std::vector<sampling::Judged> judged;
  for (const uint32_t e : which) {
    const data::TrainingQuery& example = set.examples[e];
    judged.clear();
    for (const auto* list : {&example.positives, &example.others}) {
      for (const data::Judgement& judgement : *list) {
        if (judgement.grade >= 0) judged.push_back({judgement.document, judgement.grade});
      }
    }
    examples.Add(set.query_hashes[example.query], judged);
  }
  return examples;
}

}  // namespace tandem::train
