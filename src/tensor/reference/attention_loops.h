// Attention as the reference computes it: plain loops in float or double, text by text, head by
// head, query by query.
//
//   s[j] = soft_cap(scale q k[j]) + bias[bucket(j - i)]      for the keys j that query i may read
//   p[j] = exp(s[j]) / sum_l exp(s[l])
//   out  = sum_j p[j] mask[j] v[j]
//
// soft_cap(s) = cap tanh(s / cap), or s where there is no cap. Sources: Vaswani et al. 2017; shared
// key and value heads, Ainslie et al. 2023; relative bias, Raffel et al. 2020.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "tensor/attention_rule.h"
#include "tensor/dropout.h"
#include "tensor/reference/dot.h"
#include "tensor/reference/row_loops.h"

namespace tandem::tensor::loops {

inline double Unrounded(double x) { return x; }

template <typename T>
struct AttentionArguments {
  const T* qkv;           // [T, shape.qkv_width()]
  const int32_t* starts;  // [texts + 1]
  int64_t texts;
  HeadShape shape;
  AttentionRule rule;
  const T* bias;  // [buckets, heads], or null: none
  int64_t buckets, max_distance;
  const int64_t* row_keys;  // [T]
  Dropout dropout;
  // Rounds scores, probabilities and their gradients to the activations' type, which is narrower
  // than T for bf16 and half.
  double (*round)(double) = Unrounded;

  // The channels of query head h in a row, of the key head that it reads, and of the value head.
  int64_t QueryAt(int64_t row, int64_t h) const {
    return row * shape.qkv_width() + h * shape.head_width;
  }
  int64_t KeyAt(int64_t row, int64_t h) const {
    return QueryAt(row, shape.heads + h / (shape.heads / shape.key_value_heads));
  }
  int64_t ValueAt(int64_t row, int64_t h) const {
    return KeyAt(row, h) + shape.key_value_heads * shape.head_width;
  }
  int64_t OutAt(int64_t row, int64_t h) const {
    return row * shape.out_width() + h * shape.head_width;
  }
  // The place of the bias of a key `distance` after the query.
  int64_t BiasAt(int64_t distance, int64_t h) const {
    return RelativeBucket(distance, buckets, max_distance) * shape.heads + h;
  }
};

// Says whether a query reads a key `distance` tokens after it.
inline bool Reads(const AttentionRule& rule, int64_t distance) {
  if (rule.causal && distance > 0) return false;
  return rule.window == 0 || std::abs(distance) <= rule.window;
}

// A query: row `row` of the tokens, in the text of rows [begin, end), with its head.
struct Query {
  int64_t row, begin, end, head;
};

// A key that a query reads.
struct ReadKey {
  int64_t row;
  int64_t distance;    // tokens after the query
  double capped;       // the score before the bias
  double score;        // s
  double probability;  // p
  double mask;         // of dropout: 0, or what is kept is multiplied by it
};

// The keys that the query reads, with their scores.
template <typename T>
std::vector<ReadKey> ScoresOf(const AttentionArguments<T>& args, const Query& query) {
  const AttentionRule& rule = args.rule;
  const T* q = args.qkv + args.QueryAt(query.row, query.head);
  std::vector<ReadKey> keys;
  for (int64_t row = query.begin; row < query.end; ++row) {
    const int64_t distance = row - query.row;
    if (!Reads(rule, distance)) continue;
    const double product =
        args.round(Dot(q, args.qkv + args.KeyAt(row, query.head), args.shape.head_width));
    double capped = args.round(rule.scale * product);
    if (rule.soft_cap > 0) {
      capped = args.round(rule.soft_cap * std::tanh(capped / rule.soft_cap));
    }
    double score = capped;
    if (args.bias != nullptr) {
      score = args.round(score + static_cast<double>(args.bias[args.BiasAt(distance, query.head)]));
    }
    keys.push_back({row, distance, capped, score, 0, 1});
  }
  return keys;
}

// The keys that the query reads, with their probabilities and masks. Part h + 1 of the dropout's
// site is that of head h, and its channels are the places of keys in their text.
template <typename T>
std::vector<ReadKey> ProbabilitiesOf(const AttentionArguments<T>& args, const Query& query) {
  std::vector<ReadKey> keys = ScoresOf(args, query);
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const ReadKey& key : keys) largest = std::max(largest, key.score);
  for (ReadKey& key : keys) sum += key.probability = std::exp(key.score - largest);
  for (ReadKey& key : keys) key.probability = args.round(key.probability / sum);
  if (!args.dropout.active()) return keys;
  const uint64_t site_key = SiteKey(args.dropout, static_cast<uint32_t>(query.head + 1));
  const uint64_t row_key = RowKey(site_key, static_cast<uint64_t>(args.row_keys[query.row]));
  for (ReadKey& key : keys) key.mask = KeepFactor(row_key, key.row - query.begin, args.dropout);
  return keys;
}

// Calls body(query) for every text, head and query.
template <typename T, typename Body>
void ForEachQuery(const AttentionArguments<T>& args, const Body& body) {
  for (int64_t text = 0; text < args.texts; ++text) {
    const int64_t begin = args.starts[text], end = args.starts[text + 1];
    for (int64_t head = 0; head < args.shape.heads; ++head) {
      for (int64_t row = begin; row < end; ++row) body(Query{row, begin, end, head});
    }
  }
}

// out [T, shape.out_width()].
template <typename T>
void Attention(const AttentionArguments<T>& args, T* out) {
  const int64_t width = args.shape.head_width;
  std::vector<double> sums(static_cast<size_t>(width));
  ForEachQuery(args, [&](const Query& query) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const ReadKey& key : ProbabilitiesOf(args, query)) {
      AddTimes(args.round(key.probability * key.mask), args.qkv + args.ValueAt(key.row, query.head),
               width, sums.data());
    }
    std::transform(sums.begin(), sums.end(), out + args.OutAt(query.row, query.head),
                   [](double sum) { return static_cast<T>(sum); });
  });
}

// The gradients of a query's scores, one for each key: with g[j] = mask[j] (grad_out v[j]),
//
//   grad_s[j] = p[j] (g[j] - sum_l p[l] g[l])
template <typename T>
std::vector<double> ScoreGradients(const AttentionArguments<T>& args, const Query& query,
                                   const std::vector<ReadKey>& keys, const T* grad_out) {
  std::vector<double> gradients;
  double mean = 0;
  for (const ReadKey& key : keys) {
    const double product = args.round(
        Dot(grad_out, args.qkv + args.ValueAt(key.row, query.head), args.shape.head_width));
    gradients.push_back(args.round(product * key.mask));
    mean += key.probability * gradients.back();
  }
  for (size_t j = 0; j < keys.size(); ++j) {
    gradients[j] = args.round(keys[j].probability * (gradients[j] - mean));
  }
  return gradients;
}

// Adds the gradients of Attention to grad_qkv, as qkv, and to grad_bias, as bias; null: not wanted.
// `all_grad_out` is [T, shape.out_width()], grad_out a query's part of it. With u[j] = scale
// soft_cap'(scale q k[j]) grad_s[j], where soft_cap' = 1 - tanh^2:
//
//   grad_q    += sum_j u[j] k[j]
//   grad_k[j] += u[j] q
//   grad_v[j] += p[j] mask[j] grad_out
//   grad_bias[bucket(j - i)] += grad_s[j]
template <typename T>
void AttentionBackward(const AttentionArguments<T>& args, const T* all_grad_out, double* grad_qkv,
                       double* grad_bias) {
  const int64_t width = args.shape.head_width;
  ForEachQuery(args, [&](const Query& query) {
    const T* grad_out = all_grad_out + args.OutAt(query.row, query.head);
    const std::vector<ReadKey> keys = ProbabilitiesOf(args, query);
    const std::vector<double> score_gradients = ScoreGradients(args, query, keys, grad_out);
    const int64_t q = args.QueryAt(query.row, query.head);
    for (size_t j = 0; j < keys.size(); ++j) {
      const ReadKey& key = keys[j];
      const int64_t k = args.KeyAt(key.row, query.head), v = args.ValueAt(key.row, query.head);
      const double tanh = args.rule.soft_cap > 0 ? key.capped / args.rule.soft_cap : 0;
      const double u = args.rule.scale * args.round((1 - tanh * tanh) * score_gradients[j]);
      AddTimes(u, args.qkv + k, width, grad_qkv + q);
      AddTimes(u, args.qkv + q, width, grad_qkv + k);
      AddTimes(args.round(key.probability * key.mask), grad_out, width, grad_qkv + v);
      if (grad_bias != nullptr) {
        grad_bias[args.BiasAt(key.distance, query.head)] += score_gradients[j];
      }
    }
  });
}

}  // namespace tandem::tensor::loops
