// The values that keys of a recipe choose among.
#pragma once

#include "config/param.h"

namespace tandem::config {

inline constexpr ChoiceInfo kReduceTypes[] = {
    {"fp32", "as they are"},
    {"bf16", "rounded to bf16 on their way, half the bytes; added up in single precision"}};

// Booleans in TOML, but for the first (param.cc, recipe_values.h).
inline constexpr ChoiceInfo kDuplicates[] = {
    {"mask",
     "where full batches leave no other place for them: they are masked then; as `true` where "
     "`data.masks.copies` is off"},
    {"true",
     "where apart from each other they would make more than a quarter more batches: they are "
     "masked then"},
    {"false", "wherever they fall"}};

inline constexpr ChoiceInfo kPrecisions[] = {
    {"auto", "bf16 where the processor or the device multiplies it natively, else fp32"},
    {"fp32", "single precision throughout"},
    {"bf16", "bfloat16 matrix products, fp32 master weights"},
    {"fp16", "half precision matrix products, fp32 master weights, a scaled loss; CUDA devices"},
    {"tf32", "single precision whose matrix products round to 10 bits; CUDA devices"}};
inline constexpr ChoiceInfo kTowers[] = {
    {"shared", "one encoder for queries and documents"},
    {"separate", "one encoder for queries, one for documents"},
    {"separate_shared_projection", "two encoders, and one Dense module after both"}};
inline constexpr ChoiceInfo kScoreUses[] = {
    {"auto",
     "labels where all are 0 or 1; else what the objective needs; a pair's one score is its grade; "
     "others are not used"},
    {"grades", "grades of the documents"},
    {"teacher", "a teacher's scores"},
    {"ignored", "nothing, unless they are labels: positives have grade 1, negatives grade 0"}};
inline constexpr ChoiceInfo kIds[] = {
    {"given", "what `docid` and `query_id` say; texts without one are known by the text"},
    {"text", "the text alone: the same text is one document, or one query"}};
inline constexpr ChoiceInfo kCutOffs[] = {
    {"best", "the documents of that grade and above"},
    {"random", "as many at random: the control at equal size"}};
inline constexpr ChoiceInfo kLearningRateScalings[] = {
    {"none", "the rate of the run"},
    {"sqrt_batch",
     "the rate for steps of `reference_batch` queries; the run's rate is this one times "
     "sqrt(queries of its steps / `reference_batch`) (BiXSE)"}};

}  // namespace tandem::config
