#include "tensor/reference/reference_rows.h"

#include <c10/core/ScalarType.h>

#include <vector>

#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/reference/activation_loops.h"
#include "tensor/reference/affine_loops.h"
#include "tensor/reference/embedding_loops.h"
#include "tensor/reference/loop_arguments.h"
#include "tensor/reference/norm_loops.h"
#include "tensor/reference/row_loops.h"

namespace tandem::tensor::reference {
namespace {

using Gradients = std::vector<at::Tensor>;

at::Tensor Masked(const at::Tensor& x, const at::Tensor& keys, const Dropout& dropout) {
  const at::ScalarType type = x.scalar_type();
  const at::Tensor values = LoopValues(x, type), out = EmptyForLoops(x.sizes(), type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    const loops::DropArguments<T> args{values.data_ptr<T>(), x.size(0), x.size(1),
                                       keys.data_ptr<int64_t>(), dropout};
    loops::DropRows(args, out.data_ptr<T>());
  });
  return FromLoops(out, type, x.device());
}

}  // namespace

at::Tensor Dropped(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout) {
  if (!dropout.active()) return x;
  const at::Tensor keys = OnHost(tokens.row_keys);
  const at::Tensor out = Masked(x, keys, dropout);
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference Dropped", out, {x}, [keys, dropout](const at::Tensor& grad) {
    return Gradients{Masked(grad, keys, dropout)};
  });
}

at::Tensor Added(const at::Tensor& x, const at::Tensor& part, int64_t first, double scale) {
  const at::ScalarType type = x.scalar_type();
  const loops::Columns columns{x.size(0), x.size(1), first, part.size(1)};
  const at::Tensor values = LoopValues(x, type), part_values = LoopValues(part, type);
  const at::Tensor sums = EmptyForLoops(x.sizes(), type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    loops::AddColumns(values.data_ptr<T>(), part_values.data_ptr<T>(), columns, scale,
                      sums.data_ptr<T>());
  });
  const at::Tensor out = FromLoops(sums, type, x.device());
  if (!NeedsGradient({x, part})) return out;
  return WithBackward("reference Added", out, {x, part}, [=](const at::Tensor& grad) {
    const at::Tensor above = LoopValues(grad, type);
    const at::Tensor grad_part = EmptyForLoops({columns.rows, columns.part_width}, type);
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
  at::ScalarType type;
  at::ScalarType parameter_type;  // RMS norms read gamma unrounded
  at::Tensor x, gamma, beta;      // x [T, stride]
  int64_t first, blocks;
  Norm norm;

  BlockNorm(const at::Tensor& from, const Norm& of, int64_t first_column, int64_t count)
      : type(from.scalar_type()),
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
  at::Tensor Forward() const {
    const at::Tensor out = x.clone();
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::Normalize(Arguments<T>(), out.data_ptr<T>() + first);
    });
    return out;
  }
  // The gradients of x, gamma and beta.
  Gradients Backward(const at::Tensor& grad) const {
    const at::Tensor above = LoopValues(grad, type), grad_x = above.clone();
    const at::Tensor grad_gamma = GradientSums(norm.gamma), grad_beta = GradientSums(norm.beta);
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

at::Tensor NormalizedBlocks(const at::Tensor& x, const BlockNorm& blocks, at::ScalarType out_type) {
  const at::Tensor out = FromLoops(blocks.Forward(), out_type, x.device());
  const std::vector<at::Tensor> inputs = {x, blocks.norm.gamma, blocks.norm.beta};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("reference Normalized", out, inputs,
                      [blocks](const at::Tensor& grad) { return blocks.Backward(grad); });
}

}  // namespace

at::Tensor Normalized(const at::Tensor& x, const Norm& norm, at::ScalarType out_type) {
  if (!norm.defined()) return x;
  return NormalizedBlocks(x, BlockNorm(x, norm, 0, 1), out_type);
}

at::Tensor NormalizedHeads(const at::Tensor& x, const Norm& norm, int64_t first, int64_t heads) {
  if (!norm.defined()) return x;
  return NormalizedBlocks(x, BlockNorm(x, norm, first, heads), x.scalar_type());
}

at::Tensor InnerValues(const at::Tensor& x, Activation activation, bool gated) {
  const at::ScalarType type = x.scalar_type();
  const at::Tensor values = LoopValues(x, type);
  const int64_t rows = x.size(0), width = gated ? x.size(1) / 2 : x.size(1);
  const auto arguments = [=](auto zero) {
    using T = decltype(zero);
    return loops::InnerArguments<T>{values.data_ptr<T>(), rows, width, activation, gated};
  };
  const at::Tensor inner = EmptyForLoops({rows, width}, type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    loops::InnerValues(arguments(zero), inner.data_ptr<T>());
  });
  const at::Tensor out = FromLoops(inner, type, x.device());
  if (!NeedsGradient({x})) return out;
  return WithBackward("reference InnerValues", out, {x}, [=](const at::Tensor& grad) {
    const at::Tensor above = LoopValues(grad, type);
    const at::Tensor grad_x = EmptyForLoops(values.sizes(), type);
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
  at::ScalarType type;
  at::Tensor x, weight, bias;

  LinearValues(const at::Tensor& from, const Linear& linear)
      : type(from.scalar_type()),
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
  at::Tensor Forward() const {
    const at::Tensor out = EmptyForLoops({x.size(0), weight.size(0)}, type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::Affine(Arguments<T>(), out.data_ptr<T>());
    });
    return out;
  }
  // The gradients of x and of the linear's parameters.
  Gradients Backward(const Linear& linear, const at::Tensor& grad) const {
    const at::Tensor above = LoopValues(grad, type), grad_x = EmptyForLoops(x.sizes(), type);
    at::Tensor weight_sums, bias_sums;
    if (linear.WantsWeightGradient()) weight_sums = at::zeros(weight.sizes(), at::kDouble);
    if (linear.WantsBiasGradient()) bias_sums = at::zeros(bias.sizes(), at::kDouble);
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

at::Tensor Product(const at::Tensor& x, const Linear& linear) {
  const Linear base = linear.Base();
  const LinearValues values(x, base);
  const at::Tensor out = FromLoops(values.Forward(), values.type, x.device());
  const std::vector<at::Tensor> inputs = Join({x}, base.parameters());
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("reference Product", out, inputs, [values, base](const at::Tensor& grad) {
    return values.Backward(base, grad);
  });
}

at::ScalarType TableType(const EmbeddingTables& tables) {
  at::ScalarType type = tables.word.scalar_type();
  for (const at::Tensor& table : {tables.position, tables.type}) {
    if (table.defined()) type = c10::promoteTypes(type, table.scalar_type());
  }
  return type;
}

namespace {

// Tables and tokens with the values that the loops read.
struct TableValues {
  at::ScalarType type;
  at::Tensor ids, positions, types, word, position, segment;
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
  Gradients Backward(const EmbeddingTables& tables, const at::Tensor& grad) const {
    const at::Tensor above = LoopValues(grad, type), words = GradientSums(tables.word);
    const at::Tensor places = GradientSums(tables.position), kinds = GradientSums(tables.type);
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

at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                        at::ScalarType out_type) {
  const TableValues values(tokens, tables, scale);
  const at::Tensor sums = EmptyForLoops({tokens.tokens(), tables.word.size(1)}, values.type);
  ForLoopType(values.type, [&](auto zero) {
    using T = decltype(zero);
    loops::SumEmbeddings(values.Arguments<T>(), sums.data_ptr<T>());
  });
  const at::Tensor out = FromLoops(sums, out_type, tables.word.device());
  const std::vector<at::Tensor> inputs = {tables.word, tables.position, tables.type};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward(
      "reference EmbeddingSum", out, inputs,
      [values, tables](const at::Tensor& grad) { return values.Backward(tables, grad); });
}

}  // namespace tandem::tensor::reference
