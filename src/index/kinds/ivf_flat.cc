// Whole rows in lists by their nearest centroid, on disk: memory holds the centroids, and a search
// reads the rows of the nearest lists one after the other.
#include "index/approximate_params.h"

namespace tandem::index {
namespace {

constexpr config::ChoiceInfo kCodes[] = {
    {"int8", "a quarter of the bytes; what is found is scored again by the float32 rows"},
    {"fp32", "the rows themselves"}};
constexpr config::ParamInfo kIvfFlatParams[] = {
    kListsParam, config::Choice("codes", "what the lists hold of a row", "int8", kCodes),
    kRecallParam};

// Seconds of one number of a row, on one thread: int8's was measured (docs/indexes.md), the other
// follows by the bytes.
constexpr double kSecondsOfInt8 = 0.045e-9;
constexpr double kSecondsOfFloat = 0.16e-9;

// Lists written out, whose default depends on the rows.
config::Params IvfFlatSuited(size_t rows, size_t, double) {
  config::Params params(kIvfFlatParams);
  params.Set("lists", static_cast<int64_t>(ListCount(rows, 0)));
  return params;
}

KindCost IvfFlatCost(size_t rows, size_t width, const config::Params& params) {
  const bool int8 = params.String("codes") == "int8";
  const double e = static_cast<double>(width);
  const size_t lists = ListCount(rows, static_cast<size_t>(params.Integer("lists")));
  return ListsCost({.count = rows, .width = width}, lists, int8 ? e + 4 : 4 * e,
                   e * (int8 ? kSecondsOfInt8 : kSecondsOfFloat), params.Number("recall"));
}

}  // namespace

extern const IndexKindInfo kIvfFlat{
    {.name = "ivf_flat",
     .summary = "lists of whole rows on disk, of which a search reads the nearest",
     .source = "Sivic and Zisserman 2003 (inverted file), as FAISS's IndexIVFFlat; differs: rows "
               "are int8 unless asked otherwise, and the number of lists that a search reads is "
               "measured",
     .params = kIvfFlatParams},
    false,
    IvfFlatCost,
    IvfFlatSuited};

}  // namespace tandem::index
