#include "commands/guarantees/guarantee_basis.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "commands/model/load_model.h"
#include "commands/model/score_differences.h"
#include "eval/guarantees/promise.h"
#include "model/fingerprint.h"
#include "tensor/machine/precision.h"
#include "weights/folders/tandem_file.h"

namespace tandem::app {
namespace {

std::string Hexadecimal(uint64_t hash) { return fmt::format("{:016x}", hash); }

// What differs a little, and how it was and is.
std::vector<std::string> BasisDifferences(const weights::GuaranteeBasis& was,
                                          const weights::GuaranteeBasis& is,
                                          const std::string& documents_precision) {
  std::vector<std::string> differences;
  const bool apart = !documents_precision.empty();
  AddDifference(apart ? "precision of queries" : "precision", was.precision, is.precision,
                &differences);
  if (apart) {
    AddDifference("precision of documents", was.precision, documents_precision, &differences);
  }
  AddTextDifferences(was, is, &differences);
  return differences;
}

}  // namespace

weights::GuaranteeBasis BasisOfModel(model::DualEncoder& model, const Globals& globals) {
  using model::TextKind;
  weights::GuaranteeBasis basis;
  basis.model_fingerprint = Hexadecimal(model::Fingerprint(model));
  basis.similarity = model.similarity();
  basis.precision = std::string(tensor::PrecisionName(BulkOptions(globals).precision));
  basis.width = static_cast<size_t>(model.embedding_width());
  basis.query_prompt = model.prompt(TextKind::kQuery);
  basis.document_prompt = model.prompt(TextKind::kDocument);
  basis.max_query_tokens = model.max_tokens(TextKind::kQuery);
  basis.max_document_tokens = model.max_tokens(TextKind::kDocument);
  return basis;
}

void AddData(const data::JudgedData& judged, const std::string& folder, const std::string& split,
             weights::GuaranteeBasis* basis) {
  basis->data = FolderName(folder);
  basis->split = split;
  basis->data_fingerprint = Hexadecimal(data::Fingerprint(judged));
  basis->date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  basis->documents = judged.dataset.documents.size();
}

std::vector<float> KeptScores(std::vector<float> scores) {
  if (scores.size() > kKeptScores) {
    RandomStream random({.seed = 1, .purpose = "kept scores"});
    random.Shuffle(std::span(scores));
    scores.resize(kKeptScores);
  }
  std::sort(scores.begin(), scores.end());
  return scores;
}

weights::Guarantees GuaranteesOf(const std::string& folder) {
  auto guarantees = weights::ReadGuarantees(weights::ModelFiles(folder));
  if (!guarantees) {
    throw UsageError(fmt::format(
        "{0}: has no guarantees; make some with judged queries: tandem calibrate {0} --dataset "
        "DATA --split dev --guarantee recall=0.9",
        folder));
  }
  return *std::move(guarantees);
}

void CheckBasis(const weights::GuaranteeBasis& was, const weights::GuaranteeBasis& is,
                const std::string& folder, const SearchedCorpus& corpus) {
  if (was.model_fingerprint != is.model_fingerprint || was.similarity != is.similarity ||
      was.width != is.width) {
    throw UsageError(fmt::format(
        "{0}/{1}: its guarantees are of other scores ({2}, {3} numbers, model {4}) than those of "
        "the model now ({5}, {6} numbers, model {7}); make them anew: tandem calibrate {0} "
        "--guarantee ...",
        folder, weights::kTandemFile, was.similarity, was.width, was.model_fingerprint,
        is.similarity, is.width, is.model_fingerprint));
  }
  const auto differences = BasisDifferences(was, is, corpus.precision);
  if (!differences.empty()) {
    Warn(
        fmt::format("{}/{}: its guarantees were made with {}; scores differ by that, and nothing "
                    "is promised of them",
                    folder, weights::kTandemFile, fmt::join(differences, ", ")));
  }
  if (was.documents != corpus.documents) {
    Warn(
        fmt::format("{}/{}: its guarantees were made for a corpus of {} documents, and this one "
                    "has {}; nothing is promised of it",
                    folder, weights::kTandemFile, was.documents, corpus.documents));
  }
}

const weights::Guarantee& FindGuarantee(const weights::Guarantees& guarantees,
                                        const std::string& keep) {
  const size_t end = std::min(keep.find(kOfGroup), keep.size());
  const std::string group = keep.substr(end);
  const eval::Promise promise = eval::ParsePromise(std::string_view(keep).substr(0, end));
  const bool any_confidence = keep.find('@') >= end;  // a group may have the character too
  const weights::Guarantee* found = nullptr;
  std::vector<std::string> names;
  for (const weights::Guarantee& one : guarantees.promises) {
    names.push_back(one.Name());
    const std::string of_group =
        one.by.empty() ? "" : fmt::format("{}{}={}", kOfGroup, one.by, one.group);
    const bool same = one.promise.kind == promise.kind && one.promise.level == promise.level &&
                      (any_confidence || one.promise.confidence == promise.confidence);
    if (!same || of_group != group) continue;
    if (found != nullptr) {
      throw UsageError(
          fmt::format("{}: {} and {} are promised; say which", keep, found->Name(), one.Name()));
    }
    found = &one;
  }
  if (found == nullptr) {
    throw UsageError(fmt::format("{}: that is not promised; the model promises {}", keep,
                                 fmt::join(names, ", ")));
  }
  if (found->promise.confidence != promise.confidence) {  // the default's, which it does not say
    Note(
        fmt::format("{} is taken for {}, which names no confidence (the default is {}): the model "
                    "promises no other",
                    found->Name(), keep, promise.confidence));
  }
  return *found;
}

}  // namespace tandem::app
