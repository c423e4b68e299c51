// Adafactor with a learning rate from outside.
//
//   V <- b V + (1 - b) (g^2 + epsilon)               b = 1 - t^-decay_exponent
//   u = g / sqrt(V)
//   w <- w - a u / max(1, rms(u) / clip_threshold)   a = rate * max(scale_epsilon, rms(w))
//
// For a parameter of two or more dimensions only the means of V over rows and over columns are
// kept, R and C, and V = R C / mean(R); a = rate where `scale_parameter` is off. rms is the root of
// the mean square over the whole parameter, t = steps so far, this one included; weight decay takes
// a * weight_decay * w off first.
// Source: Shazeer and Stern 2018, algorithms 4 and 5, without first moment and relative step, as
// transformers.Adafactor(relative_step=False) and the T5 runs. Sums are taken in double, in an
// order that does not depend on threads; everything else is float32.
#include "optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/catalogue.h"
#include "optim/chunks.h"
#include "optim/common_params.h"
#include "optim/sums.h"

namespace tandem::optim {
namespace {

// Consecutive whole rows of one parameter. A vector counts as rows of one element.
struct Piece {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t end = 0;
  // Sums of the last pass over the piece.
  double update_squares = 0;
  double weight_squares = 0;
  std::vector<double> column_squares;  // [columns], factored only
};

// One parameter: `blocks` matrices of rows x columns after each other, or a vector of `rows`.
struct Tensor {
  ParameterView parameter;
  bool factored = false;
  int64_t blocks = 1;
  int64_t rows = 1;                   // of all blocks
  int64_t columns = 1;                // 1 for a vector
  std::vector<float> second;          // [rows]: means over rows; of a vector, its elements
  std::vector<float> second_columns;  // [blocks, columns], factored only
  std::vector<float> row_factors;     // [rows] 1 / sqrt(R / mean(R)), of this step
  std::vector<float> column_factors;  // [blocks, columns] 1 / sqrt(C), of this step
  size_t first_piece = 0, end_piece = 0;
  float decay_step = 0;   // weight decay subtracts this share of a weight
  float update_step = 0;  // factor of an update

  int64_t elements() const { return rows * columns; }
  int64_t block_rows() const { return rows / blocks; }
};

// Each piece has an array for the sums of its columns; a piece has enough rows that the array is
// small beside it.
constexpr int64_t kLeastRows = 32;

Tensor MakeTensor(ParameterView parameter) {
  Tensor tensor;
  const std::vector<int64_t>& shape = parameter.shape;
  tensor.factored = shape.size() >= 2;
  if (tensor.factored) {
    tensor.columns = shape.back();
    tensor.blocks = ElementsOf(std::span(shape).first(shape.size() - 2));
    tensor.rows = tensor.blocks * shape[shape.size() - 2];
    tensor.second_columns.resize(tensor.blocks * tensor.columns);
    tensor.column_factors.resize(tensor.second_columns.size());
    tensor.row_factors.resize(tensor.rows);
  } else {
    tensor.rows = ElementsOf(shape);
  }
  tensor.second.resize(tensor.rows);
  tensor.parameter = std::move(parameter);
  return tensor;
}

// The pieces of a parameter; none spans two blocks.
void AddPieces(size_t index, Tensor& tensor, std::vector<Piece>& pieces) {
  const int64_t least = tensor.factored ? kLeastRows : 1;
  const int64_t step = std::max(least, kChunkElements / std::max<int64_t>(1, tensor.columns));
  tensor.first_piece = pieces.size();
  for (int64_t block = 0; tensor.elements() > 0 && block < tensor.blocks; ++block) {
    const int64_t end = (block + 1) * tensor.block_rows();
    for (int64_t begin = block * tensor.block_rows(); begin < end; begin += step) {
      pieces.push_back({.tensor = index, .begin = begin, .end = std::min(end, begin + step)});
      if (tensor.factored) pieces.back().column_squares.resize(tensor.columns);
    }
  }
  tensor.end_piece = pieces.size();
}

// Adds the squares of a row to `columns`; returns their sum.
double AddSquares(const float* __restrict__ row, double scale, double* __restrict__ columns,
                  int64_t count) {
  return SumOf(count, [=](int64_t c) {
    const double gradient = row[c] * scale;
    columns[c] += gradient * gradient;
    return gradient * gradient;
  });
}

void ApplyRow(float* __restrict__ weights, const float* __restrict__ gradient,
              const float* __restrict__ columns, int64_t count, float keep, float step) {
  for (int64_t c = 0; c < count; ++c) {
    weights[c] = weights[c] * keep - gradient[c] * columns[c] * step;
  }
}

void ApplyVector(float* __restrict__ weights, const float* __restrict__ gradient,
                 const float* __restrict__ second, int64_t count, float keep, float step) {
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = weights[i] * keep - gradient[i] / std::sqrt(second[i]) * step;
  }
}

class Adafactor final : public UpdateRule {
 public:
  Adafactor(std::vector<ParameterView> parameters, const AdafactorOptions& options)
      : options_(options) {
    for (ParameterView& parameter : parameters) {
      tensors_.push_back(MakeTensor(std::move(parameter)));
      AddPieces(tensors_.size() - 1, tensors_.back(), pieces_);
    }
  }

  void Step(const StepPoint& point, std::span<const GradientView> gradients,
            const ParallelLoop& parallel) override {
    const double beta = 1 - std::pow(static_cast<double>(point.step), -options_.decay_exponent);
    const auto pieces = [&](auto&& work) {
      parallel(static_cast<int64_t>(pieces_.size()), [&](int64_t p) {
        Piece& piece = pieces_[p];
        if (!gradients[piece.tensor].defined()) return;
        work(piece, tensors_[piece.tensor], gradients[piece.tensor].values);
      });
    };
    const auto tensors = [&](auto&& work) {
      parallel(static_cast<int64_t>(tensors_.size()), [&](int64_t t) {
        if (gradients[t].defined()) work(tensors_[t]);
      });
    };
    const double scale = point.gradient_scale;
    pieces([&](Piece& piece, Tensor& tensor, const float* gradient) {
      UpdateSecondMoments(piece, tensor, gradient, scale, beta);
    });
    tensors([&](Tensor& tensor) {
      if (tensor.factored) MakeFactors(tensor, beta);
    });
    pieces([&](Piece& piece, Tensor& tensor, const float* gradient) {
      MeasureUpdate(piece, tensor, gradient, scale);
    });
    tensors([&](Tensor& tensor) { ChooseStep(tensor, point); });
    pieces([&](Piece& piece, Tensor& tensor, const float* gradient) {
      Apply(piece, tensor, gradient);
    });
  }

  std::vector<StateArray> State() override {
    std::vector<StateArray> state;
    for (Tensor& tensor : tensors_) {
      const std::string& name = tensor.parameter.name;
      std::vector<int64_t> shape = tensor.parameter.shape;
      if (!tensor.factored) {
        state.push_back({"second_moment/" + name, shape, tensor.second.data()});
        continue;
      }
      shape.pop_back();
      state.push_back({"second_moment_rows/" + name, shape, tensor.second.data()});
      shape.back() = tensor.columns;
      state.push_back({"second_moment_columns/" + name, shape, tensor.second_columns.data()});
    }
    return state;
  }

 private:
  // Updates second moments from the gradient; for a matrix: the means of its rows, and this piece's
  // part of the sums of its columns.
  void UpdateSecondMoments(Piece& piece, Tensor& tensor, const float* gradient, double scale,
                           double beta) const {
    const int64_t first = piece.begin * tensor.columns;
    const int64_t end = piece.end * tensor.columns;
    if (options_.scale_parameter) {
      const float* weights = tensor.parameter.values + first;
      piece.weight_squares = SumOf(end - first, [weights](int64_t i) {
        return static_cast<double>(weights[i]) * weights[i];
      });
    }
    std::fill(piece.column_squares.begin(), piece.column_squares.end(), 0.0);
    for (int64_t r = piece.begin; r < piece.end; ++r) {
      double square = 0;
      if (tensor.factored) {
        square = AddSquares(gradient + r * tensor.columns, scale, piece.column_squares.data(),
                            tensor.columns) /
                 static_cast<double>(tensor.columns);
      } else {
        square = std::pow(gradient[r] * scale, 2);
      }
      tensor.second[r] =
          static_cast<float>(beta * tensor.second[r] + (1 - beta) * (square + options_.epsilon));
    }
  }

  void MakeFactors(Tensor& tensor, double beta) const {
    std::vector<double> squares(tensor.second_columns.size());  // [blocks, columns]
    for (size_t p = tensor.first_piece; p < tensor.end_piece; ++p) {
      double* block = squares.data() + BlockOf(tensor, pieces_[p]) * tensor.columns;
      for (int64_t c = 0; c < tensor.columns; ++c) block[c] += pieces_[p].column_squares[c];
    }
    const auto block_rows = static_cast<double>(tensor.block_rows());
    for (size_t c = 0; c < squares.size(); ++c) {
      const double square = squares[c] / block_rows + options_.epsilon;
      float& second = tensor.second_columns[c];
      second = static_cast<float>(beta * second + (1 - beta) * square);
      tensor.column_factors[c] = static_cast<float>(1 / std::sqrt(static_cast<double>(second)));
    }
    for (int64_t block = 0; block < tensor.blocks; ++block) {
      const auto begin = tensor.second.begin() + block * tensor.block_rows();
      double mean = 0;
      for (int64_t r = 0; r < tensor.block_rows(); ++r) mean += begin[r] / block_rows;
      for (int64_t r = 0; r < tensor.block_rows(); ++r) {
        tensor.row_factors[block * tensor.block_rows() + r] =
            static_cast<float>(std::sqrt(mean / begin[r]));
      }
    }
  }

  static void MeasureUpdate(Piece& piece, const Tensor& tensor, const float* gradient,
                            double scale) {
    double sum = 0;
    if (tensor.factored) {
      const float* columns = ColumnFactors(tensor, piece);
      for (int64_t r = piece.begin; r < piece.end; ++r) {
        const float* row = gradient + r * tensor.columns;
        const double factor = tensor.row_factors[r];
        sum += factor * factor * SumOf(tensor.columns, [=](int64_t c) {
                 const double part = static_cast<double>(row[c]) * columns[c];
                 return part * part;
               });
      }
    } else {
      sum = SumOf(piece.end - piece.begin, [&](int64_t i) {
        const double part = gradient[piece.begin + i];
        return part * part / tensor.second[piece.begin + i];
      });
    }
    piece.update_squares = sum * scale * scale;
  }

  void ChooseStep(Tensor& tensor, const StepPoint& point) const {
    double update = 0, weight = 0;
    for (size_t p = tensor.first_piece; p < tensor.end_piece; ++p) {
      update += pieces_[p].update_squares;
      weight += pieces_[p].weight_squares;
    }
    const auto elements = static_cast<double>(std::max<int64_t>(1, tensor.elements()));
    double rate = point.learning_rate;
    if (options_.scale_parameter) {
      rate *= std::max(options_.scale_epsilon, std::sqrt(weight / elements));
    }
    const double decay = tensor.parameter.decay ? options_.weight_decay : 0;
    tensor.decay_step = static_cast<float>(rate * decay);
    tensor.update_step =
        static_cast<float>(rate * point.gradient_scale /
                           std::max(1.0, std::sqrt(update / elements) / options_.clip_threshold));
  }

  static void Apply(const Piece& piece, const Tensor& tensor, const float* gradient) {
    float* weights = tensor.parameter.values;
    const float keep = 1 - tensor.decay_step;
    if (!tensor.factored) {
      ApplyVector(weights + piece.begin, gradient + piece.begin, tensor.second.data() + piece.begin,
                  piece.end - piece.begin, keep, tensor.update_step);
      return;
    }
    for (int64_t r = piece.begin; r < piece.end; ++r) {
      const int64_t first = r * tensor.columns;
      ApplyRow(weights + first, gradient + first, ColumnFactors(tensor, piece), tensor.columns,
               keep, tensor.row_factors[r] * tensor.update_step);
    }
  }

  static const float* ColumnFactors(const Tensor& tensor, const Piece& piece) {
    return tensor.column_factors.data() + BlockOf(tensor, piece) * tensor.columns;
  }

  static int64_t BlockOf(const Tensor& tensor, const Piece& piece) {
    return piece.begin / tensor.block_rows();
  }

  AdafactorOptions options_;
  std::vector<Tensor> tensors_;
  std::vector<Piece> pieces_;
};

constexpr config::ParamInfo kAdafactorParams[] = {
    config::Boolean("scale_parameter",
                    "multiplies the learning rate by the root mean square of each parameter, as "
                    "the T5 runs do",
                    true),
    config::Number("clip_threshold", "", "largest root mean square of a parameter's update", 1.0,
                   {1e-6, 1e6}),
    config::Number("decay_exponent", "", "p in the second moment's decay 1 - step^-p", 0.8, {0, 1})
        .Elsewhere("transformers: `decay_rate` = -p"),
    WeightDecay(0),
    config::Number("epsilon", "", "added to the squared gradient", 1e-30, {1e-36, 1})
        .Elsewhere("transformers: the first of `eps`"),
    config::Number("scale_epsilon", "", "the least that scale_parameter multiplies by", 1e-3,
                   {0, 1})
        .Needs("scale_parameter = true",
               [](const config::Params& params) { return params.Boolean("scale_parameter"); })
        .Elsewhere("transformers: the second of `eps`")};

std::unique_ptr<UpdateRule> MakeAdafactor(std::vector<ParameterView> parameters,
                                          const config::Params& params) {
  return std::make_unique<Adafactor>(std::move(parameters), AdafactorOptionsOf(params));
}

}  // namespace

AdafactorOptions AdafactorOptionsOf(const config::Params& params) {
  return {.epsilon = params.Number("epsilon"),
          .scale_epsilon = params.Number("scale_epsilon"),
          .clip_threshold = params.Number("clip_threshold"),
          .decay_exponent = params.Number("decay_exponent"),
          .scale_parameter = params.Boolean("scale_parameter"),
          .weight_decay = params.Number("weight_decay")};
}

// The gradient is read three times, weights twice, and written.
extern const OptimizerInfo kAdafactor{
    {.name = "adafactor",
     .summary = "second moments of matrices as rows and columns: little memory; clips each update",
     .source = "Shazeer and Stern 2018, algorithms 4 and 5, without first moment and relative "
               "step, as transformers.Adafactor",
     .params = kAdafactorParams},
    /*memory_passes=*/6,
    MakeAdafactor};

}  // namespace tandem::optim
