// The Mann-Whitney loss: a smooth form of 1 - AUC over all pairs of a positive and a negative.
//
//   L = 1/(P N) sum over positives i, negative cells (k, j) of ANY query of
//       softplus( (s_kj - s_i+) / t )
//
// s = query_document [Q, D], t = `temperature`. With a score bank, positives and negatives are the
// batch's and the banked ones together; banked scores carry no gradient.
// Source: MW paper eq. 2 and 3. Differs: eq. 3 has neither t nor 1/N; `normalization` = "sum"
// leaves out 1/N. Masked cells (copies, known positives) are not negatives.
//
// This is the exact form. Nothing of size P N is ever held: negatives are gathered in tiles, and
// every positive passes over a tile while it is in the cache. Time O(P N), memory O(P) beside the
// scores and their gradient.
#include <algorithm>
#include <array>
#include <vector>

#include "base/threads.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/softplus.h"

namespace tandem::objective {
namespace {

constexpr size_t kTile = 1024;    // negatives; their scores and gradients fill half an L1 cache
constexpr int64_t kStripes = 16;  // parts of the rows, fixed so that sums do not depend on threads

// Negatives of one tile with the cells that they came from.
struct Tile {
  std::array<double, kTile> scores;
  std::array<double, kTile> gradient;
  std::array<int64_t, kTile> cells;
  size_t size = 0;
};

// What one stripe of rows adds up to.
struct Partial {
  double loss = 0;
  std::vector<double> positive_gradient;  // [P]; empty where no gradient is wanted
};

// Adds a tile's pairs with one positive to the loss and to the slopes of both sides. Without
// `positive_gradient` only the loss is wanted.
void AddPairs(double positive, double inverse_temperature, Tile& tile, double& loss,
              double* positive_gradient) {
  double loss_sum = 0;
  double slope_sum = 0;
  for (size_t n = 0; n < tile.size; ++n) {
    const Softplus pair = SoftplusOf((tile.scores[n] - positive) * inverse_temperature);
    loss_sum += pair.value;
    slope_sum += pair.slope;
    tile.gradient[n] += pair.slope;
  }
  loss += loss_sum;
  if (positive_gradient != nullptr) *positive_gradient -= slope_sum;
}

class MannWhitney final : public Formula {
 public:
  explicit MannWhitney(const config::Params& params)
      : inverse_temperature_(1 / params.Number("temperature")),
        mean_(params.String("normalization") == "mean") {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const std::vector<double> positives = Positives(batch);
    double* cell_gradient = gradient == nullptr ? nullptr : gradient->query_document;
    const double negatives = static_cast<double>(CountNegatives(batch));
    const double divisor = static_cast<double>(positives.size()) * (mean_ ? negatives : 1.0);
    if (positives.empty() || negatives == 0) return {0, 0};
    std::vector<Partial> partials = SumStripes(batch, positives, divisor, cell_gradient);
    partials.push_back(SumBank(batch, positives, cell_gradient != nullptr));
    double loss = 0;
    for (const Partial& partial : partials) {
      loss += partial.loss;
      AddToPositives(batch, partial, divisor, cell_gradient);
    }
    return {loss / divisor, divisor};
  }

 private:
  // The batch's, then the banked ones.
  static std::vector<double> Positives(const Batch& batch) {
    std::vector<double> positives;
    for (int64_t i = 0; i < batch.queries; ++i) positives.push_back(batch.PositiveScore(i));
    positives.insert(positives.end(), batch.bank_positives.begin(), batch.bank_positives.end());
    return positives;
  }

  static int64_t CountNegatives(const Batch& batch) {
    const bool* end = batch.negative + batch.queries * batch.documents;
    return std::count(batch.negative, end, true) +
           static_cast<int64_t>(batch.bank_negatives.size());
  }

  void AddTile(const std::vector<double>& positives, Tile& tile, Partial& partial) const {
    std::fill_n(tile.gradient.begin(), tile.size, 0.0);
    for (size_t i = 0; i < positives.size(); ++i) {
      double* gradient =
          partial.positive_gradient.empty() ? nullptr : &partial.positive_gradient[i];
      AddPairs(positives[i], inverse_temperature_, tile, partial.loss, gradient);
    }
  }

  // Takes a full or last tile and empties it.
  void FlushTile(const std::vector<double>& positives, double factor, double* cell_gradient,
                 Tile& tile, Partial& partial) const {
    AddTile(positives, tile, partial);
    for (size_t n = 0; n < tile.size && cell_gradient != nullptr; ++n) {
      cell_gradient[tile.cells[n]] += factor * tile.gradient[n];
    }
    tile.size = 0;
  }

  std::vector<Partial> SumStripes(const Batch& batch, const std::vector<double>& positives,
                                  double divisor, double* cell_gradient) const {
    const int64_t cells = batch.queries * batch.documents;
    const double factor = inverse_temperature_ / divisor;
    std::vector<Partial> partials(kStripes);
    ParallelFor(kStripes, 1, batch.threads, [&](size_t first, size_t last) {
      Tile tile;
      for (size_t stripe = first; stripe < last; ++stripe) {
        Partial& partial = partials[stripe];
        if (cell_gradient != nullptr) partial.positive_gradient.resize(positives.size());
        const auto s = static_cast<int64_t>(stripe);
        for (int64_t cell = cells * s / kStripes; cell < cells * (s + 1) / kStripes; ++cell) {
          if (!batch.negative[cell]) continue;
          tile.scores[tile.size] = batch.query_document[cell];
          tile.cells[tile.size++] = cell;
          if (tile.size == kTile) FlushTile(positives, factor, cell_gradient, tile, partial);
        }
        FlushTile(positives, factor, cell_gradient, tile, partial);
      }
    });
    return partials;
  }

  // Banked negatives, on the caller's thread.
  Partial SumBank(const Batch& batch, const std::vector<double>& positives,
                  bool with_gradient) const {
    Partial partial;
    if (with_gradient) partial.positive_gradient.resize(positives.size());
    Tile tile;
    for (size_t begin = 0; begin < batch.bank_negatives.size(); begin += kTile) {
      tile.size = std::min(kTile, batch.bank_negatives.size() - begin);
      std::copy_n(batch.bank_negatives.begin() + static_cast<std::ptrdiff_t>(begin), tile.size,
                  tile.scores.begin());
      AddTile(positives, tile, partial);
    }
    return partial;
  }

  void AddToPositives(const Batch& batch, const Partial& partial, double divisor,
                      double* cell_gradient) const {
    if (cell_gradient == nullptr) return;
    for (int64_t i = 0; i < batch.queries; ++i) {
      cell_gradient[i * batch.documents + batch.positive[i]] +=
          inverse_temperature_ / divisor * partial.positive_gradient[static_cast<size_t>(i)];
    }
  }

  double inverse_temperature_;
  bool mean_;
};

constexpr config::ChoiceInfo kNormalizations[] = {
    {"mean", "over all pairs"}, {"sum", "over positives of the sum over negatives (eq. 3)"}};

// 0.01: "temperature 0.01 for both" losses in the MW paper's experiments.
constexpr config::ParamInfo kParams[] = {
    config::Number("temperature", "score units", "divides score differences before the sigmoid",
                   0.01, kTemperatureRange),
    config::Choice("normalization", "what the sum over pairs becomes", "mean", kNormalizations),
    SimilarityKind("cosine")};

}  // namespace

const ObjectiveInfo kMannWhitney{
    {.name = "mann_whitney",
     .summary = "smooth 1 - AUC: every own document above every query's negatives",
     .source = "MW paper eq. 2 and 3, with temperature and 1/N",
     .params = kParams},
    [](const config::Params&) { return Needs{.separable_by_row = false}; },
    [](const config::Params& params) -> std::unique_ptr<const Formula> {
      return std::make_unique<MannWhitney>(params);
    }};

}  // namespace tandem::objective
