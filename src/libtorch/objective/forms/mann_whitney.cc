// losses/mann_whitney.cc as tensor operations, with the same two ways to sum over pairs.
//
// The fast one does on the device what costs something for each score: sorting negatives into
// cells, their moments, and the series at each of them. Cells and positives are few, so that what
// is computed for them (mann_whitney_cells.h) is computed on the host: between the two go some
// hundred bytes for each cell. Nothing of size P N is ever held, and no sum adds atomically.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "objective/losses/mann_whitney/mann_whitney_cells.h"
#include "objective/losses/mann_whitney/mann_whitney_options.h"
#include "objective/losses/mann_whitney/mann_whitney_pairs.h"

namespace tandem::objective {
extern const ObjectiveInfo kMannWhitney;
}

namespace tandem::libtorch {
namespace {

using objective::CellSide;
using objective::kTerms;
using objective::MannWhitneyOptions;
using objective::PairSums;
using objective::PairTask;
using objective::ScoreGrid;
using objective::Series;

template <typename T>
at::Tensor TensorOf(const std::vector<T>& values, const at::Tensor& like) {
  const at::Tensor tensor =
      at::empty({std::ssize(values)}, std::is_same_v<T, double> ? at::kDouble : at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor.to(like.device());
}

// The middles of cells, each as the sum of two numbers, for positions that are rounded as
// ScoreGrid::PositionIn rounds them.
class Middles {
 public:
  explicit Middles(double temperature) : grid_(temperature), inverse_(1 / temperature) {}

  void Add(int64_t cell) {
    const ScoreGrid::Middle middle = grid_.MiddleOf(cell);
    values_.push_back(middle.value);
    rests_.push_back(middle.rest);
  }
  // Must be called once all are added.
  void MoveTo(const at::Tensor& like) {
    value_ = TensorOf(values_, like);
    rest_ = TensorOf(rests_, like);
  }
  const at::Tensor& value() const { return value_; }
  const at::Tensor& rest() const { return rest_; }

  // Temperatures from the middle; `value` and `rest` are that middle's, and broadcast.
  at::Tensor Positions(const at::Tensor& scores, const at::Tensor& value,
                       const at::Tensor& rest) const {
    return scores.sub(value).sub_(rest).mul_(inverse_);
  }

 private:
  ScoreGrid grid_;
  double inverse_;
  std::vector<double> values_, rests_;
  at::Tensor value_, rest_;
};

// Sorted scores of one part as a matrix: each cell's scores fill rows of its own, the last of which
// may have room left.
struct CellRows {
  std::vector<int64_t> begin, end;  // of the scores of a row
  std::vector<size_t> cell;         // that a row belongs to
  int64_t width = 1;
};

CellRows RowsOf(const std::vector<int64_t>& counts, int64_t scores) {
  // Rows as wide as a cell has scores on average, so that the matrix is at most twice as large as
  // the scores; and at most 1,024, so that sums of a few cells have many rows to run in parallel.
  CellRows rows{.width = std::clamp<int64_t>(scores / std::ssize(counts), 1, 1024)};
  int64_t first = 0;
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    const int64_t last = first + counts[cell];
    for (; first < last; first = rows.end.back()) {
      rows.begin.push_back(first);
      rows.end.push_back(std::min(last, first + rows.width));
      rows.cell.push_back(cell);
    }
  }
  return rows;
}

// The moments of each row's scores, [rows, kTerms] on the host: sums of T_0(x) ... T_15(x).
at::Tensor RowMoments(const at::Tensor& sorted, const CellRows& rows, const Middles& middles) {
  const at::Tensor places = Column(TensorOf(rows.begin, sorted))
                                .add(at::arange(rows.width, sorted.options().dtype(at::kLong)));
  const at::Tensor filled = places.lt(Column(TensorOf(rows.end, sorted))).to(at::kDouble);
  const at::Tensor x = middles.Positions(sorted.take(places.clamp_max_(sorted.numel() - 1)),
                                         Column(middles.value()), Column(middles.rest()));
  std::vector<at::Tensor> moments;
  at::Tensor before = filled, now = x.mul(filled);
  const at::Tensor twice = x.mul(2);
  for (size_t k = 0; k < kTerms; ++k) {
    moments.push_back(before.sum(1));
    at::Tensor next = twice.mul(now).sub_(before);
    before = std::exchange(now, std::move(next));
  }
  return at::stack(moments, 1).to(at::kCPU).contiguous();
}

// Collects the cells and moments of negatives, part by part.
class NegativeCells {
 public:
  explicit NegativeCells(double temperature) : temperature_(temperature) {}

  void Add(const at::Tensor& scores) {  // float64 [n]
    if (scores.numel() == 0) return;
    const at::Tensor sorted = std::get<0>(scores.sort());
    objective::CheckScore(sorted[0].item<double>(), temperature_);
    objective::CheckScore(sorted[-1].item<double>(), temperature_);
    const auto [cells, inverse, counts] = at::unique_consecutive(
        sorted.mul(0.5 / temperature_).floor_(), /*return_inverse=*/false, /*return_counts=*/true);
    Part part;
    for (const double cell : ToVector(cells)) part.cells.push_back(static_cast<int64_t>(cell));
    const at::Tensor plain = counts.to(at::kCPU).contiguous();
    const auto* count = plain.data_ptr<int64_t>();
    const CellRows rows = RowsOf({count, count + plain.numel()}, sorted.numel());
    Middles middles(temperature_);
    for (const size_t cell : rows.cell) middles.Add(part.cells[cell]);
    middles.MoveTo(sorted);
    const at::Tensor moments = RowMoments(sorted, rows, middles);
    part.moments.resize(part.cells.size());
    const auto* moment = moments.data_ptr<double>();
    for (const size_t cell : rows.cell) {
      for (double& sum : part.moments[cell]) sum += *moment++;
    }
    parts_.push_back(std::move(part));
  }

  CellSide Side() const {
    CellSide side;
    for (const Part& part : parts_) {
      for (const int64_t cell : part.cells) side.cells.Add(cell);
    }
    side.cells.Sort();
    side.moments.resize(side.cells.size());
    for (const Part& part : parts_) {
      for (size_t c = 0; c < part.cells.size(); ++c) {
        Series& sum = side.moments[side.cells.IndexOf(part.cells[c])];
        for (size_t k = 0; k < kTerms; ++k) sum[k] += part.moments[c][k];
      }
    }
    return side;
  }

 private:
  struct Part {
    std::vector<int64_t> cells;  // ascending
    std::vector<Series> moments;
  };
  double temperature_;
  std::vector<Part> parts_;
};

// The sums of slopes over all positives, for negatives anywhere in the cells of a side.
class NegativeSlopes {
 public:
  NegativeSlopes(const CellSide& side, double temperature, const at::Tensor& like)
      : inverse_width_(0.5 / temperature), middles_(temperature) {
    std::vector<double> cells, terms;
    for (size_t c = 0; c < side.cells.size(); ++c) {
      cells.push_back(static_cast<double>(side.cells.cell(c)));
      middles_.Add(side.cells.cell(c));
    }
    middles_.MoveTo(like);
    cells_ = TensorOf(cells, like);
    far_ = TensorOf(side.far_slopes, like);
    for (size_t k = 0; k < kTerms; ++k) {
      terms.clear();
      for (const Series& series : side.slopes) terms.push_back(series[k]);
      terms_.push_back(TensorOf(terms, like));
    }
  }

  // Evaluates at scores [...]; the result is some number for a score in no cell of the side.
  at::Tensor At(const at::Tensor& scores) const {
    const at::Tensor flat = scores.flatten();
    const at::Tensor cell =
        at::searchsorted(cells_, flat.mul(inverse_width_).floor_()).clamp_max_(cells_.numel() - 1);
    const at::Tensor x = middles_.Positions(flat, middles_.value().index_select(0, cell),
                                            middles_.rest().index_select(0, cell));
    const at::Tensor twice = x.mul(2);
    at::Tensor first = at::zeros_like(x), second = at::zeros_like(x);
    for (size_t k = kTerms - 1; k > 0; --k) {  // ValueOf
      at::Tensor next = terms_[k].index_select(0, cell).addcmul_(twice, first).sub_(second);
      second = std::exchange(first, std::move(next));
    }
    return terms_[0]
        .index_select(0, cell)
        .addcmul_(x, first)
        .sub_(second)
        .add_(far_.index_select(0, cell))
        .view(scores.sizes());
  }

 private:
  double inverse_width_;
  Middles middles_;
  at::Tensor cells_, far_;         // float64 [cells]
  std::vector<at::Tensor> terms_;  // [kTerms] float64 [cells]
};

// Calls body(begin, count, scores, mask) for the rows of a batch, part by part.
template <typename Body>
void ForEachRows(const DeviceBatch& batch, const Body& body) {
  ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
    body(begin, count, batch.query_document.narrow(0, begin, count),
         batch.negative.narrow(0, begin, count));
  });
}

PairSums SumFast(const DeviceBatch& batch, const PairTask& task, BatchGradient* gradient) {
  CellSide positives = PositiveSide(task);
  NegativeCells cells(task.temperature);
  ForEachRows(batch, [&](int64_t, int64_t, const at::Tensor& scores, const at::Tensor& mask) {
    cells.Add(scores.masked_select(mask));
  });
  if (batch.bank_negatives.defined()) {
    cells.Add(batch.bank_negatives.to(batch.query_document.device()));
  }
  CellSide negatives = cells.Side();
  PairSums sums;
  sums.loss = SumOverNegatives(negatives, gradient != nullptr, batch.host.threads, positives);
  ReadPositives(task, positives, sums);
  if (gradient == nullptr) return sums;
  SumOverPositives(positives, batch.host.threads, negatives);
  const NegativeSlopes slopes(negatives, task.temperature, batch.query_document);
  ForEachRows(batch,
              [&](int64_t begin, int64_t count, const at::Tensor& scores, const at::Tensor& mask) {
                gradient->query_document.narrow(0, begin, count)
                    .add_(Allowed(slopes.At(scores), mask), task.slope_factor);
              });
  return sums;
}

// Every pair by itself, a part of the negatives at a time.
class Tiled {
 public:
  Tiled(const DeviceBatch& batch, const PairTask& task, BatchGradient* gradient)
      : batch_(batch),
        task_(task),
        gradient_(gradient),
        positives_(TensorOf({task.positives.begin(), task.positives.end()})),
        weights_(at::cat({batch.weights, at::ones({positives_.numel() - batch.host.queries},
                                                  batch.weights.options())})),
        losses_(at::zeros_like(positives_)),
        slopes_(at::zeros_like(positives_)) {}

  PairSums Sum() {
    ForEachRows(
        batch_, [&](int64_t begin, int64_t, const at::Tensor& scores, const at::Tensor& mask) {
          const at::Tensor cells = at::nonzero(mask.flatten()).squeeze(1);
          AddAll(scores.flatten().index_select(0, cells), cells + begin * batch_.host.documents);
        });
    if (batch_.bank_negatives.defined()) {
      AddAll(batch_.bank_negatives.to(positives_.device()), at::Tensor());
    }
    PairSums sums{.loss = weights_.mul(losses_).sum().item<double>(),
                  .positive_losses = ToVector(losses_.narrow(0, 0, batch_.host.queries))};
    if (gradient_ != nullptr) {
      sums.positive_slopes = ToVector(slopes_.narrow(0, 0, batch_.host.queries));
    }
    return sums;
  }

 private:
  at::Tensor TensorOf(const std::vector<double>& values) const {
    return libtorch::TensorOf(values, batch_.query_document);
  }

  // Negatives [n] with their cells in the batch; undefined: banked.
  void AddAll(const at::Tensor& scores, const at::Tensor& cells) {
    ForEachPart(batch_, scores.numel(), positives_.numel(), [&](int64_t begin, int64_t count) {
      Add(scores.narrow(0, begin, count), cells.defined() ? cells.narrow(0, begin, count) : cells);
    });
  }

  void Add(const at::Tensor& scores, const at::Tensor& cells) {
    const SoftplusTensors pairs = SoftplusOf(
        scores.unsqueeze(0).sub(Column(positives_)).mul_(1 / task_.temperature));  // [P, n]
    losses_.add_(pairs.value.sum(1));
    if (gradient_ == nullptr) return;
    slopes_.add_(pairs.slope.sum(1));
    if (!cells.defined()) return;
    AddToCells(gradient_->query_document, cells,
               pairs.slope.mul(Column(weights_)).sum(0).mul_(task_.slope_factor));
  }

  const DeviceBatch& batch_;
  const PairTask& task_;
  BatchGradient* gradient_;
  at::Tensor positives_, weights_;  // [P]
  at::Tensor losses_, slopes_;      // [P]: sums over the negatives
};

class DeviceMannWhitney final : public BatchForm {
 public:
  explicit DeviceMannWhitney(const config::Params& params) : options_(params) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    std::vector<double> positives = ToVector(batch.own_scores);
    positives.insert(positives.end(), batch.host.bank_positives.begin(),
                     batch.host.bank_positives.end());
    const auto queries = static_cast<size_t>(batch.host.queries);
    const auto negatives = static_cast<double>(batch.negative.sum().item<int64_t>() +
                                               std::ssize(batch.host.bank_negatives));
    if (negatives == 0) return {.losses = std::vector<double>(queries)};
    const auto count = static_cast<double>(positives.size());
    const double divisor = count * (options_.mean ? negatives : 1.0);
    const PairTask task{
        .batch = batch.host,
        .positives = positives,
        .temperature = options_.temperature,
        .weights = {batch.host.weights, batch.host.weights == nullptr ? 0 : queries},
        .own = queries,
        .slope_factor = 1 / (options_.temperature * divisor)};
    PairSums sums = options_.FastWins(count, negatives) ? SumFast(batch, task, gradient)
                                                        : Tiled(batch, task, gradient).Sum();
    if (gradient != nullptr) {
      const at::Tensor slopes = TensorOf(sums.positive_slopes, batch.weights);
      AddToCells(gradient->query_document, batch.own_cells,
                 slopes.mul_(batch.weights).mul_(-task.slope_factor));
    }
    if (options_.mean) {
      for (double& loss : sums.positive_losses) loss /= negatives;
    }
    return {sums.loss / divisor, divisor, std::move(sums.positive_losses)};
  }

 private:
  MannWhitneyOptions options_;
};

}  // namespace

extern const objective::DeviceFormInfo kMannWhitneyOnDevice =
    DeviceFormOf<DeviceMannWhitney, objective::kMannWhitney>();

}  // namespace tandem::libtorch
