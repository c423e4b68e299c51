#include "tensor/reference/reference_rows.h"

#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/reference/activation_loops.h"
#include "tensor/reference/affine_loops.h"
#include "tensor/reference/embedding_loops.h"
#include "tensor/reference/loop_arguments.h"
#include "tensor/reference/norm_loops.h"
#include "tensor/reference/row_loops.h"

namespace tandem::tensor::reference {
namespace {

using Gradients = std::vector<Tensor>;

Tensor Masked(const Tensor& x, const Tensor& keys, const Dropout& dropout) {
  const DType type = x.dtype();
  const Tensor values = LoopValues(x, type), out = EmptyForLoops(x.sizes(), type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    const loops::DropArguments<T> args{values.data_ptr<T>(), x.size(0), x.size(1),
                                       keys.data_ptr<int64_t>(), dropout};
    loops::DropRows(args, out.data_ptr<T>());
  });
  return FromLoops(out, type, x.device());
}

}  // namespace

Tensor Dropped(const Tensor& x, const PackedTokens& tokens, const Dropout& dropout) {
  if (!dropout.active()) return x;
  const Tensor keys = OnHost(tokens.row_keys);
  const Tensor out = Masked(x, keys, dropout);
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference Dropped", out, {x}, [keys, dropout](const Tensor& grad) {
    return Gradients{Masked(grad, keys, dropout)};
  });
}

Tensor Added(const Tensor& x, const Tensor& part, int64_t first, double scale) {
  const DType type = x.dtype();
  const loops::Columns columns{x.size(0), x.size(1), first, part.size(1)};
  const Tensor values = LoopValues(x, type), part_values = LoopValues(part, type);
  const Tensor sums = EmptyForLoops(x.sizes(), type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    loops::AddColumns(values.data_ptr<T>(), part_values.data_ptr<T>(), columns, scale,
                      sums.data_ptr<T>());
  });
  const Tensor out = FromLoops(sums, type, x.device());
  if (!NeedsGradient({x, part})) return out;
  return WithBackward("reference Added", out, {x, part}, [=](const Tensor& grad) {
    const Tensor above = LoopValues(grad, type);
    const Tensor grad_part = EmptyForLoops({columns.rows, columns.part_width}, type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::AddColumnsBackward(above.data_ptr<T>(), columns, scale, grad_part.data_ptr<T>());
    });
    return Gradients{grad, FromLoops(grad_part, type, grad.device())};
  });
}

namespace {

// A norm of blocks of rows, with the values that the loops read.
struct BlockNorm {
  DType type;
  DType parameter_type;   // RMS norms read gamma unrounded
  Tensor x, gamma, beta;  // x [T, stride]
  int64_t first, blocks;
  Norm norm;

  BlockNorm(const Tensor& from, const Norm& of, int64_t first_column, int64_t count)
      : type(from.dtype()),
        parameter_type(of.kind == Norm::Kind::kLayerNorm ? type : LoopType(type)),
        x(LoopValues(from, type)),
        gamma(LoopValues(of.gamma, parameter_type)),
        beta(LoopValues(of.beta, parameter_type)),
        first(first_column),
        blocks(count),
        norm(of) {}

  template <typename T>
  loops::NormArguments<T> Arguments() const {
    return {.x = x.data_ptr<T>() + first,
            .rows = x.size(0),
            .blocks = blocks,
            .width = gamma.numel(),
            .stride = x.size(1),
            .gamma = gamma.data_ptr<T>(),
            .beta = DataOf<T>(beta),
            .gamma_plus = norm.kind == Norm::Kind::kRmsPlusOne ? 1.0 : 0.0,
            .epsilon = norm.epsilon,
            .centred = norm.kind == Norm::Kind::kLayerNorm};
  }
  // The blocks normalised, and the other columns as they are.
  Tensor Forward() const {
    const Tensor out = x.clone();
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::Normalize(Arguments<T>(), out.data_ptr<T>() + first);
    });
    return out;
  }
  // The gradients of x, gamma and beta.
  Gradients Backward(const Tensor& grad) const {
    const Tensor above = LoopValues(grad, type), grad_x = above.clone();
    const Tensor grad_gamma = GradientSums(norm.gamma), grad_beta = GradientSums(norm.beta);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::NormalizeBackward(Arguments<T>(), above.data_ptr<T>() + first,
                               grad_x.data_ptr<T>() + first, DataOf<double>(grad_gamma),
                               DataOf<double>(grad_beta));
    });
    return {FromLoops(grad_x, type, grad.device()),
            FromLoops(grad_gamma, parameter_type, grad.device()),
            FromLoops(grad_beta, parameter_type, grad.device())};
  }
};

Tensor NormalizedBlocks(const Tensor& x, const BlockNorm& blocks, DType out_type) {
  const Tensor out = FromLoops(blocks.Forward(), out_type, x.device());
  const std::vector<Tensor> inputs = {x, blocks.norm.gamma, blocks.norm.beta};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("reference Normalized", out, inputs,
                      [blocks](const Tensor& grad) { return blocks.Backward(grad); });
}

}  // namespace

Tensor Normalized(const Tensor& x, const Norm& norm, DType out_type) {
  if (!norm.defined()) return x;
  return NormalizedBlocks(x, BlockNorm(x, norm, 0, 1), out_type);
}

Tensor NormalizedHeads(const Tensor& x, const Norm& norm, int64_t first, int64_t heads) {
  if (!norm.defined()) return x;
  return NormalizedBlocks(x, BlockNorm(x, norm, first, heads), x.dtype());
}

Tensor InnerValues(const Tensor& x, Activation activation, bool gated) {
  const DType type = x.dtype();
  const Tensor values = LoopValues(x, type);
  const int64_t rows = x.size(0), width = gated ? x.size(1) / 2 : x.size(1);
  const auto arguments = [=](auto zero) {
    using T = decltype(zero);
    return loops::InnerArguments<T>{values.data_ptr<T>(), rows, width, activation, gated};
  };
  const Tensor inner = EmptyForLoops({rows, width}, type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    loops::InnerValues(arguments(zero), inner.data_ptr<T>());
  });
  const Tensor out = FromLoops(inner, type, x.device());
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference InnerValues", out, {x}, [=](const Tensor& grad) {
    const Tensor above = LoopValues(grad, type);
    const Tensor grad_x = EmptyForLoops(values.sizes(), type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::InnerValuesBackward(arguments(zero), above.data_ptr<T>(), grad_x.data_ptr<T>());
    });
    return Gradients{FromLoops(grad_x, type, grad.device())};
  });
}

namespace {

// An affine map, with the values that the loops read.
struct LinearValues {
  DType type;
  Tensor x, weight, bias;

  LinearValues(const Tensor& from, const Linear& linear)
      : type(from.dtype()),
        x(LoopValues(from, type)),
        weight(LoopValues(linear.WeightIn(type), type)),
        bias(LoopValues(linear.BiasIn(type), type)) {}

  template <typename T>
  loops::AffineArguments<T> Arguments() const {
    return {.x = x.data_ptr<T>(),
            .weight = weight.data_ptr<T>(),
            .bias = DataOf<T>(bias),
            .rows = x.size(0),
            .in = weight.size(1),
            .outs = weight.size(0)};
  }
  Tensor Forward() const {
    const Tensor out = EmptyForLoops({x.size(0), weight.size(0)}, type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::Affine(Arguments<T>(), out.data_ptr<T>());
    });
    return out;
  }
  // The gradients of x and of the linear's parameters.
  Gradients Backward(const Linear& linear, const Tensor& grad) const {
    const Tensor above = LoopValues(grad, type), grad_x = EmptyForLoops(x.sizes(), type);
    Tensor weight_sums, bias_sums;
    if (linear.WantsWeightGradient()) weight_sums = Zeros(weight.sizes(), kDouble);
    if (linear.WantsBiasGradient()) bias_sums = Zeros(bias.sizes(), kDouble);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::AffineBackward(Arguments<T>(), above.data_ptr<T>(), grad_x.data_ptr<T>(),
                            DataOf<double>(weight_sums), DataOf<double>(bias_sums));
    });
    Gradients gradients = {FromLoops(grad_x, type, grad.device())};
    linear.AppendGradients(FromLoops(weight_sums, type, grad.device()),
                           FromLoops(bias_sums, type, grad.device()), &gradients);
    return gradients;
  }
};

}  // namespace

Tensor Product(const Tensor& x, const Linear& linear) {
  const Linear base = linear.Base();
  const LinearValues values(x, base);
  const Tensor out = FromLoops(values.Forward(), values.type, x.device());
  const std::vector<Tensor> inputs = Join({x}, base.parameters());
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("reference Product", out, inputs,
                      [values, base](const Tensor& grad) { return values.Backward(base, grad); });
}

namespace {

// The type that holds the numbers of both.
DType WiderOf(DType a, DType b) {
  if (a == b) return a;
  return a == kDouble || b == kDouble ? kDouble : kFloat;
}

}  // namespace

DType TableType(const EmbeddingTables& tables) {
  DType type = tables.word.dtype();
  for (const Tensor& table : {tables.position, tables.type}) {
    if (table.defined()) type = WiderOf(type, table.dtype());
  }
  return type;
}

namespace {

// Tables and tokens with the values that the loops read.
struct TableValues {
  DType type;
  Tensor ids, positions, types, word, position, segment;
  int64_t position_offset;
  double scale;

  TableValues(const PackedTokens& tokens, const EmbeddingTables& tables, double factor)
      : type(TableType(tables)),
        ids(OnHost(tokens.ids)),
        positions(OnHost(tokens.positions)),
        types(OnHost(tokens.types)),
        word(LoopValues(tables.word, type)),
        position(LoopValues(tables.position, type)),
        segment(LoopValues(tables.type, type)),
        position_offset(tables.position_offset),
        scale(factor) {}

  template <typename T>
  loops::EmbeddingArguments<T> Arguments() const {
    return {.rows = ids.size(0),
            .width = word.size(1),
            .ids = ids.data_ptr<int32_t>(),
            .positions = positions.data_ptr<int32_t>(),
            .types = DataOf<int32_t>(types),
            .word = word.data_ptr<T>(),
            .position = DataOf<T>(position),
            .type = DataOf<T>(segment),
            .position_offset = position_offset,
            .scale = scale};
  }
  // The gradients of the word, position and type table.
  Gradients Backward(const EmbeddingTables& tables, const Tensor& grad) const {
    const Tensor above = LoopValues(grad, type), words = GradientSums(tables.word);
    const Tensor places = GradientSums(tables.position), kinds = GradientSums(tables.type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::SumEmbeddingsBackward(Arguments<T>(), above.data_ptr<T>(), DataOf<double>(words),
                                   DataOf<double>(places), DataOf<double>(kinds));
    });
    return {FromLoops(words, type, grad.device()), FromLoops(places, type, grad.device()),
            FromLoops(kinds, type, grad.device())};
  }
};

}  // namespace

Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                    DType out_type) {
  const TableValues values(tokens, tables, scale);
  const Tensor sums = EmptyForLoops({tokens.tokens(), tables.word.size(1)}, values.type);
  ForLoopType(values.type, [&](auto zero) {
    using T = decltype(zero);
    loops::SumEmbeddings(values.Arguments<T>(), sums.data_ptr<T>());
  });
  const Tensor out = FromLoops(sums, out_type, tables.word.device());
  const std::vector<Tensor> inputs = {tables.word, tables.position, tables.type};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("reference EmbeddingSum", out, inputs, [values, tables](const Tensor& grad) {
    return values.Backward(tables, grad);
  });
}

}  // namespace tandem::tensor::reference
