// The portable implementation of attention: classes of texts of similar length at a time, in pieces
// whose scores fit in a bounded amount of memory.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/operations/length_classes.h"
#include "libtorch/operations/portable_dropout.h"
#include "libtorch/operations/portable_ops.h"
#include "libtorch/operations/portable_types.h"
#include "tensor/profile/profile.h"

namespace tandem::libtorch::portable {
namespace {

// Queries of some texts of a class, with all keys of these texts.
struct Piece {
  LengthClasses::Class texts;  // first_row, first_text and texts are the piece's
  int64_t first_query = 0;
  int64_t queries = 0;  // of each text
};

// All queries of all texts.
std::vector<Piece> PiecesOf(const LengthClasses& classes, int64_t heads, int64_t max_scores) {
  std::vector<Piece> pieces;
  for (const LengthClasses::Class& all : classes.classes()) {
    const int64_t length = all.length;
    const int64_t texts = std::clamp<int64_t>(max_scores / (heads * length * length), 1, all.texts);
    const int64_t queries =
        texts > 1 ? length : std::clamp<int64_t>(max_scores / (heads * length), 1, length);
    for (int64_t text = 0; text < all.texts; text += texts) {
      LengthClasses::Class part = all;
      part.texts = std::min(texts, all.texts - text);
      part.first_text += text;
      part.first_row += text * length;
      for (int64_t query = 0; query < length; query += queries) {
        pieces.push_back({part, query, std::min(queries, length - query)});
      }
    }
  }
  return pieces;
}

// The operands of a piece. `b` texts, G = heads / key_value_heads, Q queries, L keys, W head width.
struct Operands {
  at::Tensor q;     // [b key_value_heads, G Q, W]
  at::Tensor k, v;  // [b key_value_heads, L, W]
};

// Holds scores before the bias and probabilities, [b, heads, Q, L] in the wide type.
struct Probabilities {
  at::Tensor tanh;     // of the scores over the cap; undefined where there is none
  at::Tensor all;      // the softmax
  at::Tensor dropped;  // bool; undefined without dropout
  at::Tensor used;     // after dropout, in the activations' type, [b key_value_heads, G Q, L]
};

class PortableAttention {
 public:
  PortableAttention(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                    const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout,
                    int64_t max_scores)
      : qkv_(qkv.detach()),
        classes_(tokens.classes),
        pieces_(PiecesOf(*classes_, shape.heads, max_scores)),
        shape_(shape),
        rule_(rule),
        dropout_(dropout) {
    if (dropout.active()) padded_keys_ = tokens.row_keys.index_select(0, classes_->rows());
    if (!bias.table.defined()) return;
    bias_type_ = bias.table.scalar_type();
    buckets_ = classes_->Buckets(bias.table.size(0), bias.max_distance);
    bucket_count_ = bias.table.size(0);
    by_distance_ = bias.table.detach().to(WideType(qkv)).index_select(0, buckets_).t().contiguous();
  }

  at::Tensor Forward() const {
    const at::Tensor padded = qkv_.index_select(0, classes_->rows());
    const at::Tensor out = at::empty({padded.size(0), shape_.out_width()}, padded.options());
    for (const Piece& piece : pieces_) {
      const Operands operands = OperandsOf(piece, padded);
      const at::Tensor mixed = at::bmm(ProbabilitiesOf(piece, operands).used, operands.v);
      QueryRows(piece, out).copy_(AsRows(piece, mixed));
    }
    return out.index_select(0, classes_->places());
  }

  // The gradients of qkv and, where there is one, of the bias table.
  std::vector<at::Tensor> Backward(const at::Tensor& grad) const {
    const at::Tensor padded = qkv_.index_select(0, classes_->rows());
    // Queries that are padding give nothing.
    const at::Tensor padded_grad =
        grad.index_select(0, classes_->rows()).masked_fill_(classes_->padding().unsqueeze(1), 0);
    const at::Tensor grad_qkv = at::zeros(padded.sizes(), padded.options());
    at::Tensor grad_distances;
    if (by_distance_.defined()) {
      grad_distances = at::zeros(by_distance_.sizes(), by_distance_.options().dtype(at::kDouble));
    }
    for (const Piece& piece : pieces_) {
      AddGradients(piece, padded, padded_grad, grad_qkv, grad_distances);
    }
    std::vector<at::Tensor> gradients = {grad_qkv.index_select(0, classes_->places())};
    if (by_distance_.defined()) gradients.push_back(TableGradient(grad_distances));
    return gradients;
  }

 private:
  at::ScalarType type() const { return qkv_.scalar_type(); }
  int64_t group() const { return shape_.heads / shape_.key_value_heads; }

  static at::Tensor TextRows(const Piece& piece, const at::Tensor& padded) {
    return padded.narrow(0, piece.texts.first_row, piece.texts.texts * piece.texts.length)
        .view({piece.texts.texts, piece.texts.length, -1});
  }
  static at::Tensor QueryRows(const Piece& piece, const at::Tensor& padded) {
    return TextRows(piece, padded).narrow(1, piece.first_query, piece.queries);
  }
  // Rows of queries [b, Q, heads W] by heads [b key_value_heads, G Q, W], and back.
  at::Tensor ByHeads(const Piece& piece, const at::Tensor& rows) const {
    return rows.reshape({piece.texts.texts, piece.queries, shape_.key_value_heads, group(), -1})
        .permute({0, 2, 3, 1, 4})
        .reshape({piece.texts.texts * shape_.key_value_heads, group() * piece.queries, -1});
  }
  at::Tensor AsRows(const Piece& piece, const at::Tensor& heads) const {
    return heads.view({piece.texts.texts, shape_.key_value_heads, group(), piece.queries, -1})
        .permute({0, 3, 1, 2, 4})
        .reshape({piece.texts.texts, piece.queries, -1});
  }
  // Puts rows of keys or of values by heads, [b, L, key_value_heads W].
  at::Tensor KeysByHeads(const Piece& piece, const at::Tensor& rows) const {
    return rows.reshape({piece.texts.texts, piece.texts.length, shape_.key_value_heads, -1})
        .transpose(1, 2)
        .reshape({piece.texts.texts * shape_.key_value_heads, piece.texts.length, -1});
  }
  at::Tensor KeysAsRows(const Piece& piece, const at::Tensor& heads) const {
    return heads.view({piece.texts.texts, shape_.key_value_heads, piece.texts.length, -1})
        .transpose(1, 2)
        .reshape({piece.texts.texts, piece.texts.length, -1});
  }
  // Scores by heads as [b, heads, Q, L], and back.
  at::Tensor AsScores(const Piece& piece, const at::Tensor& x) const {
    return x.view({piece.texts.texts, shape_.heads, piece.queries, piece.texts.length});
  }
  at::Tensor AsProduct(const Piece& piece, const at::Tensor& x) const {
    return x.view(
        {piece.texts.texts * shape_.key_value_heads, group() * piece.queries, piece.texts.length});
  }

  int64_t key_columns() const { return shape_.key_value_heads * shape_.head_width; }

  Operands OperandsOf(const Piece& piece, const at::Tensor& padded) const {
    const at::Tensor all = TextRows(piece, padded);
    const int64_t out = shape_.out_width(), keys = key_columns();
    return {ByHeads(piece, QueryRows(piece, padded).narrow(2, 0, out)),
            KeysByHeads(piece, all.narrow(2, out, keys)),
            KeysByHeads(piece, all.narrow(2, out + keys, keys))};
  }

  // j - i for each query i and key j, int64 [Q, L].
  at::Tensor Distances(const Piece& piece) const {
    const at::TensorOptions options = classes_->rows().options();
    const at::Tensor keys = at::arange(piece.texts.length, options);
    const at::Tensor queries =
        at::arange(piece.first_query, piece.first_query + piece.queries, options);
    return keys.unsqueeze(0) - queries.unsqueeze(1);
  }

  // Says where a query must not read a key: bool, broadcast to [b, heads, Q, L]; undefined where it
  // may read all.
  at::Tensor Hidden(const Piece& piece) const {
    at::Tensor hidden;
    const auto add = [&](const at::Tensor& more) {
      hidden = hidden.defined() ? hidden.bitwise_or(more) : more;
    };
    if (rule_.causal) add(Distances(piece).gt(0));
    if (rule_.window > 0) add(Distances(piece).abs().gt(rule_.window));
    if (piece.texts.padded) {
      add(TextRows(piece, classes_->padding()).view({piece.texts.texts, 1, 1, -1}));
    }
    return hidden;
  }

  // [heads, Q, L]
  at::Tensor BiasOf(const Piece& piece) const {
    const at::Tensor places = Distances(piece).add_(classes_->longest() - 1).flatten();
    return by_distance_.index_select(1, places).view(
        {shape_.heads, piece.queries, piece.texts.length});
  }

  Probabilities ProbabilitiesOf(const Piece& piece, const Operands& operands) const {
    Probabilities result;
    // A product of long rows may be above the largest number of half precision, so that queries are
    // scaled first.
    const bool first = type() == at::kHalf;
    at::Tensor scores = AsScores(piece, Wide(at::bmm(first ? operands.q * rule_.scale : operands.q,
                                                     operands.k.transpose(1, 2))));
    if (!first) scores.mul_(rule_.scale);
    if (rule_.soft_cap > 0) {
      result.tanh = scores.div_(rule_.soft_cap).tanh_();
      scores = result.tanh * rule_.soft_cap;
    }
    if (by_distance_.defined()) scores.add_(BiasOf(piece));
    // It is not -inf: a query that is padding may have nothing but hidden keys.
    const at::Tensor hidden = Hidden(piece);
    if (hidden.defined()) scores.masked_fill_(hidden, std::numeric_limits<float>::lowest());
    result.all = at::softmax(scores, -1);
    at::Tensor used = result.all;
    if (dropout_.active()) {
      const at::Tensor keys = QueryRows(piece, padded_keys_).squeeze(2);
      result.dropped = DroppedOfHeads(keys, shape_.heads, piece.texts.length, dropout_);
      used = Dropped(used, result.dropped);
    }
    result.used = AsProduct(piece, used.to(type()));
    return result;
  }

  at::Tensor Dropped(const at::Tensor& x, const at::Tensor& dropped) const {
    return (x * double{tensor::KeepScale(dropout_.rate)}).masked_fill_(dropped, 0);
  }

  void AddGradients(const Piece& piece, const at::Tensor& padded, const at::Tensor& grad,
                    const at::Tensor& grad_qkv, const at::Tensor& grad_distances) const {
    const Operands operands = OperandsOf(piece, padded);
    const Probabilities p = ProbabilitiesOf(piece, operands);
    const at::Tensor grad_out = ByHeads(piece, QueryRows(piece, grad));
    const at::Tensor grad_v = at::bmm(p.used.transpose(1, 2), grad_out);
    at::Tensor grad_p = AsScores(piece, Wide(at::bmm(grad_out, operands.v.transpose(1, 2))));
    if (p.dropped.defined()) grad_p = Dropped(grad_p, p.dropped);
    at::Tensor grad_scores = p.all * (grad_p - (grad_p * p.all).sum(-1, true));
    if (grad_distances.defined()) AddToDistances(piece, grad_scores, grad_distances);
    if (p.tanh.defined()) grad_scores = grad_scores * (1 - p.tanh * p.tanh);
    const at::Tensor narrow = AsProduct(piece, (grad_scores * rule_.scale).to(type()));
    const at::Tensor grad_q = at::bmm(narrow, operands.k);
    const at::Tensor grad_k = at::bmm(narrow.transpose(1, 2), operands.q);
    const int64_t out = shape_.out_width(), keys = key_columns();
    QueryRows(piece, grad_qkv).narrow(2, 0, out).copy_(AsRows(piece, grad_q));
    TextRows(piece, grad_qkv).narrow(2, out, keys).add_(KeysAsRows(piece, grad_k));
    TextRows(piece, grad_qkv).narrow(2, out + keys, keys).add_(KeysAsRows(piece, grad_v));
  }

  // Adds gradients of scores [b, heads, Q, L] to those by distance, double [heads, distances].
  void AddToDistances(const Piece& piece, const at::Tensor& grad_scores,
                      const at::Tensor& grad_distances) const {
    // Where queries go from last to first, pairs of one distance are those of one i + j. In rows
    // filled up to L + Q, i + j is the column once the rows are taken to be one shorter.
    const int64_t queries = piece.queries, length = piece.texts.length;
    const int64_t columns = length + queries - 1;
    const at::Tensor sums = grad_scores.sum({0}, false, at::kDouble).flip({1});
    const at::Tensor skewed = at::constant_pad_nd(sums, {0, queries})
                                  .flatten(1)
                                  .narrow(1, 0, queries * columns)
                                  .view({shape_.heads, queries, columns});
    const int64_t first = classes_->longest() - queries - piece.first_query;
    grad_distances.narrow(1, first, columns).add_(skewed.sum(1));
  }

  at::Tensor TableGradient(const at::Tensor& grad_distances) const {
    const at::Tensor numbers = at::arange(bucket_count_, buckets_.options()).unsqueeze(1);
    const at::Tensor of_bucket = buckets_.unsqueeze(0).eq(numbers).to(at::kDouble);
    return at::matmul(of_bucket, grad_distances.t()).to(bias_type_);
  }

  at::Tensor qkv_;
  std::shared_ptr<const LengthClasses> classes_;
  std::vector<Piece> pieces_;
  HeadShape shape_;
  AttentionRule rule_;
  Dropout dropout_;
  at::Tensor padded_keys_;  // int64 [P], where there is dropout
  // They are set where there is a bias:
  at::ScalarType bias_type_ = at::kFloat;
  at::Tensor buckets_;  // of each distance, int64
  int64_t bucket_count_ = 0;
  at::Tensor by_distance_;  // [heads, distances], wide
};

}  // namespace

at::Tensor Attention(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout,
                     const AttentionWork& backward_work, int64_t max_scores) {
  const PortableAttention attention(qkv, tokens, shape, rule, bias, dropout, max_scores);
  const at::Tensor out = attention.Forward();
  std::vector<at::Tensor> inputs = {qkv};
  if (bias.table.defined()) inputs.push_back(bias.table);
  if (!NeedsGradient(inputs)) return out;
  const auto backward = [attention, backward_work](const at::Tensor& grad) {
    const tensor::ProfileScope scope("Attention backward",
                                     backward_work ? backward_work(grad) : tensor::Work());
    return attention.Backward(grad);
  };
  return WithBackward("Attention", out, inputs, backward);
}

}  // namespace tandem::libtorch::portable
