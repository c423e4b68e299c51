// What guarantees rest on, and whether they hold for what is loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "data/judgements/judged_data.h"
#include "model/dual_encoder.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

// What decides a model's scores, apart from the texts. Its data are empty.
weights::GuaranteeBasis BasisOfModel(model::DualEncoder& model, const Globals& globals);

// Sets the data of `basis`: the judged queries of `folder`'s split, with their judgements, and the
// corpus.
void AddData(const data::JudgedData& judged, const std::string& folder, const std::string& split,
             weights::GuaranteeBasis* basis);

// At most this many best scores are kept, which take some 10 kB of tandem.json.
inline constexpr size_t kKeptScores = 1000;

// `scores`, or as many of them, drawn at random (always the same), as are kept; ascending.
std::vector<float> KeptScores(std::vector<float> scores);

// The guarantees of a model folder. Throws UsageError where it has none.
weights::Guarantees GuaranteesOf(const std::string& folder);

// What is searched with the model.
struct SearchedCorpus {
  size_t documents = 0;
  std::string precision;  // that they were encoded in; "": that of queries
};

// Throws UsageError where the guarantees of `folder` are of other scores: of another model (the
// folder's weights were replaced), similarity or width. Warns where another precision, prompt or
// length changes scores a little, and where the corpus has another number of documents.
void CheckBasis(const weights::GuaranteeBasis& was, const weights::GuaranteeBasis& is,
                const std::string& folder, const SearchedCorpus& corpus);

// Stands between a promise and its group: "recall=0.9 for lang=en".
inline constexpr std::string_view kOfGroup = " for ";

// The guarantee that `keep` asks for, as weights::Guarantee::Name has it; of precision the
// confidence may be left out where that leaves one. Throws UsageError, which lists those that there
// are.
const weights::Guarantee& FindGuarantee(const weights::Guarantees& guarantees,
                                        const std::string& keep);

}  // namespace tandem::app
