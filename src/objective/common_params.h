// Parameters that several objectives share, spelled and documented once.
#pragma once

#include <string>
#include <string_view>

#include "config/catalogue.h"
#include "config/param.h"
#include "config/params.h"

namespace tandem::objective {

// Below 1e-4 the rounding of a float32 cosine would decide which document wins. Above 10 cosines
// make no difference to the softmax: whoever gives such a value most likely meant a scale, 1 /
// temperature.
inline constexpr config::Range kTemperatureRange = {1e-4, 10};

constexpr config::ParamInfo Temperature(double default_value) {
  return config::Number("temperature", "score units", "divides scores before the softmax",
                        default_value, kTemperatureRange)
      .Elsewhere(
          "sentence-transformers: `scale` = 1 / temperature (its 20 is 0.05); FlagEmbedding, "
          "Tevatron: `temperature`");
}

inline constexpr config::ChoiceInfo kSimilarityKinds[] = {
    {"cosine", "dot product of the normalised embeddings"},
    {"dot", "dot product of the embeddings as they are"}};

inline constexpr std::string_view kSimilarityElsewhere =
    "sentence-transformers: `similarity_fct` = `cos_sim` or `dot_score`";

// Without a value a run trains by its model's own similarity: what is trained is then what the
// model is compared by when it is used.
constexpr config::ParamInfo SimilarityKind() {
  return config::OptionalChoice("similarity_kind", "what a score is", "the model's own",
                                kSimilarityKinds)
      .Elsewhere(kSimilarityElsewhere);
}
// Serves an objective that has a similarity of its own.
constexpr config::ParamInfo SimilarityKind(std::string_view default_value) {
  return config::Choice("similarity_kind", "what a score is", default_value, kSimilarityKinds)
      .Elsewhere(kSimilarityElsewhere);
}

// Returns the value of `similarity_kind`, or `otherwise` if it has none.
inline std::string SimilarityOf(const config::Params& params, std::string_view otherwise) {
  return params.OptionalString("similarity_kind").value_or(std::string(otherwise));
}

// The similarity of scores where there is no model that could say another one.
inline constexpr std::string_view kSimilarityWithoutModel = "cosine";

inline constexpr config::ChoiceInfo kDirections[] = {
    {"query_to_document", "each query against documents"},
    {"both", "the same plus each paired document against queries; the two are added"}};

constexpr config::ParamInfo Directions() {
  return config::Choice("directions", "which sides compete", "query_to_document", kDirections)
      .Elsewhere(
          "sentence-transformers: both is `MultipleNegativesSymmetricRankingLoss`, which takes the "
          "mean of the two");
}

// Keys of other tables that do nothing beside an objective that learns from a teacher's scores of
// labelled documents alone.
inline constexpr config::IdleKey kIdleBesideTeacher[] = {
    {"data.swap_labels", "learns from a teacher's scores, not from grades"},
    {"data.flip_labels", "learns from a teacher's scores, not from grades"},
    {"data.grade_scale", "learns from a teacher's scores, not from grades"},
    {"data.binarize_at", "learns from a teacher's scores, not from grades"},
    {"data.masks", "compares labelled documents only, so that there are no negatives to mask"}};

// Keys that do nothing beside an objective that compares no texts of one tower with each other.
inline constexpr config::IdleKey kIdleWithoutSameTower[] = {
    {"data.masks.same_tower_score", "has no same-tower negatives, which samtone and pair have"}};

}  // namespace tandem::objective
