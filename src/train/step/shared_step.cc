#include "train/step/shared_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.h"
#include "dist/gather.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/profile/profile.h"
#include "train/step/encode_batch.h"

namespace tandem::train {
namespace {

// Returns the indices of each process's texts in the whole batch: its queries, then its documents.
std::vector<std::vector<int64_t>> RowsOfRanks(const TextShares& shares, int64_t queries) {
  std::vector<std::vector<int64_t>> rows(shares.queries.size());
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    const dist::Share q = shares.queries[rank], d = shares.documents[rank];
    for (int64_t i = q.begin; i < q.end; ++i) rows[rank].push_back(i);
    for (int64_t i = d.begin; i < d.end; ++i) rows[rank].push_back(queries + i);
  }
  return rows;
}

// This process's part of a batch, and the exchange of embeddings with the other parts.
struct OwnPart {
  OwnPart(const TrainingBatch& batch, dist::ProcessGroup& group)
      : shares(ShareTexts(batch, group.ranks())),
        texts(batch.Part(shares.queries[static_cast<size_t>(group.rank())],
                         shares.documents[static_cast<size_t>(group.rank())])),
        exchange(group, RowsOfRanks(shares, batch.queries)) {}

  TextShares shares;
  TrainingBatch texts;
  dist::RowExchange exchange;
};

tensor::Tensor Gather(const OwnPart& own, const tensor::Tensor& embeddings) {
  const tensor::ProfileScope scope("exchange of embeddings");
  const tensor::NoGradGuard no_gradient;
  return own.exchange.Gather(embeddings);
}

// The numbers that a process sends to the others: these facts about the queries that it scored, and
// then the losses and the cosines of its share of all queries, [kFacts + 2 rows].
enum Fact {
  kLoss,
  kCount,
  kEqualScoresLoss,
  kNegatives,
  kFalseNegatives,
  kSameTowerMasked,
  kCompared,
  kFailed,
  kFacts
};

// Returns the sum of the tensors in `all`, float64 [n, ...] on the host, in their order.
tensor::Tensor SumOfFirst(const tensor::Tensor& all) {
  const tensor::Tensor sum = tensor::Zeros(all.sizes().WithoutFirst(), tensor::kDouble);
  for (int64_t i = 0; i < all.size(0); ++i) sum.add_(all[i]);
  return sum;
}

// The loss of the queries that this process scores.
struct ShareLoss {
  tensor::Tensor value;  // undefined if it scores no query
  BatchOutcome outcome;
  std::exception_ptr failure;
};

dist::Share ScoredBy(const dist::ProcessGroup& group, int64_t queries,
                     const TrainingObjective& objective) {
  return objective.needs.separable_by_row ? dist::ShareOf(queries, group.rank(), group.ranks())
                                          : dist::Share{0, queries};
}

class SharedLoss {
 public:
  SharedLoss(const tensor::Tensor& embeddings, const TrainingBatch& batch,
             const TrainingObjective& objective, const StepOptions& options,
             dist::ProcessGroup& group)
      : embeddings_(embeddings),
        batch_(batch),
        objective_(objective),
        options_(options),
        group_(group),
        rows_(ScoredBy(group, batch.queries, objective)) {}

  // Returns the outcome of all queries, and a value for the backward pass. If the objective is
  // separable by row, the gradients of the processes' values add up to that of the loss; else each
  // process's value has the whole gradient.
  TrainingLoss Of(ObjectiveStates states) {
    const tensor::ProfileScope scope("scores and loss");
    ShareLoss share = LossOfOwn(states);
    const tensor::Tensor facts = group_.AllGather(FactsOf(share));
    if (share.failure) std::rethrow_exception(share.failure);
    CheckFailures(facts);
    share.outcome = OutcomeOfAll(facts);
    if (!objective_.needs.separable_by_row) {
      return Result(std::move(share), std::move(states), options_.weight);
    }
    const double count = share.outcome.count;
    const double own = facts[group_.rank()].data_ptr<double>()[kCount];
    return Result(std::move(share), std::move(states),
                  count > 0 ? options_.weight * own / count : 0);
  }

 private:
  ShareLoss LossOfOwn(ObjectiveStates& states) {
    ShareLoss share;
    std::optional<ScoredBatch> scored;
    if (rows_.size() > 0) {
      scored = ScoreBatch(embeddings_, batch_, objective_, /*training=*/true, rows_);
    }
    const tensor::Tensor sums =
        options_.with_equal_scores_loss ? AllScoreSums(scored) : tensor::Tensor();
    if (!scored) {
      share.outcome.cosines = CosinesOf(embeddings_, batch_);
      return share;
    }
    try {
      const double equal = sums.defined() ? EqualScoresLoss(*scored, sums, objective_,
                                                            states.View(/*with_bank=*/false))
                                          : 0;
      BatchLoss loss = LossOf(*scored, objective_, states.View(/*with_bank=*/true));
      share.value = loss.value;
      share.outcome = std::move(loss.outcome);
      share.outcome.equal_scores_loss = equal;
      states.Keep(scored->first_scores(), scored->labels);
    } catch (const NumericError&) {
      share.failure = std::current_exception();
    }
    return share;
  }

  // Returns the sums over the whole batch's scores. A process that scores no queries adds nothing.
  tensor::Tensor AllScoreSums(const std::optional<ScoredBatch>& scored) {
    const int64_t widths = std::max<int64_t>(1, std::ssize(objective_.widths));
    const tensor::Tensor own =
        scored ? ScoreSums(*scored) : tensor::Zeros({widths, 3, 2}, tensor::kDouble);
    return objective_.needs.separable_by_row ? SumOfFirst(group_.AllGather(own)) : own;
  }

  dist::Share ShareOf(int rank) const {
    return dist::ShareOf(batch_.queries, rank, group_.ranks());
  }
  int64_t MostRows() const { return (batch_.queries + group_.ranks() - 1) / group_.ranks(); }

  tensor::Tensor FactsOf(const ShareLoss& share) const {
    const tensor::Tensor facts = tensor::Zeros({kFacts + 2 * MostRows()}, tensor::kDouble);
    auto* fact = facts.data_ptr<double>();
    const BatchOutcome& outcome = share.outcome;
    fact[kLoss] = outcome.loss;
    fact[kCount] = outcome.count;
    fact[kEqualScoresLoss] = outcome.equal_scores_loss;
    fact[kNegatives] = static_cast<double>(outcome.negatives);
    fact[kFalseNegatives] = static_cast<double>(outcome.false_negatives);
    fact[kSameTowerMasked] = static_cast<double>(outcome.same_tower_masked);
    fact[kCompared] = share.value.defined() && !outcome.lacks_negatives ? 1 : 0;
    fact[kFailed] = share.failure ? 1 : 0;
    if (share.failure) return facts;
    const dist::Share own = ShareOf(group_.rank());
    // A process that scores all queries has the losses of all of them, else only those of its own.
    const int64_t first = objective_.needs.separable_by_row ? 0 : own.begin;
    for (int64_t i = 0; i < own.size(); ++i) {
      fact[kFacts + i] = outcome.losses[static_cast<size_t>(first + i)];
      fact[kFacts + MostRows() + i] = outcome.cosines[static_cast<size_t>(own.begin + i)];
    }
    return facts;
  }

  static void CheckFailures(const tensor::Tensor& facts) {
    for (int64_t rank = 0; rank < facts.size(0); ++rank) {
      if (facts[rank].data_ptr<double>()[kFailed] == 0) continue;
      throw NumericError(fmt::format("scores or the loss of rank {} are not finite", rank));
    }
  }

  // Returns the outcome of the whole batch. It is the same to the last bit on processors that round
  // differently, because the sampler's choices depend on losses and cosines.
  BatchOutcome OutcomeOfAll(const tensor::Tensor& facts) const {
    const auto fact = [&facts](int rank) { return facts[rank].data_ptr<double>(); };
    BatchOutcome all;
    // Either each process has a part of the sums, or the first one has all of them.
    const int with_sums = objective_.needs.separable_by_row ? group_.ranks() : 1;
    all.lacks_negatives = true;
    for (int rank = 0; rank < with_sums; ++rank) {
      all.loss += fact(rank)[kCount] * fact(rank)[kLoss];
      all.equal_scores_loss += fact(rank)[kCount] * fact(rank)[kEqualScoresLoss];
      all.count += fact(rank)[kCount];
      all.negatives += static_cast<int64_t>(fact(rank)[kNegatives]);
      all.false_negatives += static_cast<int64_t>(fact(rank)[kFalseNegatives]);
      all.same_tower_masked += static_cast<int64_t>(fact(rank)[kSameTowerMasked]);
      all.lacks_negatives = all.lacks_negatives && fact(rank)[kCompared] == 0;
    }
    if (all.count > 0) {
      all.loss /= all.count;
      all.equal_scores_loss /= all.count;
    }
    for (int rank = 0; rank < group_.ranks(); ++rank) {
      for (int64_t i = 0; i < ShareOf(rank).size(); ++i) {
        all.losses.push_back(static_cast<float>(fact(rank)[kFacts + i]));
        all.cosines.push_back(static_cast<float>(fact(rank)[kFacts + MostRows() + i]));
      }
    }
    return all;
  }

  static TrainingLoss Result(ShareLoss share, ObjectiveStates states, double factor) {
    tensor::Tensor value = share.value;
    if (value.defined() && factor != 1) value = tensor::Mul(value, factor);
    return {
        .value = value, .gradient = {}, .outcome = {std::move(share.outcome), std::move(states)}};
  }

  const tensor::Tensor& embeddings_;
  const TrainingBatch& batch_;
  const TrainingObjective& objective_;
  const StepOptions& options_;
  dist::ProcessGroup& group_;
  dist::Share rows_;  // the queries that this process scores
};

// If every process scores everything, each has the whole gradient of the objective's parameters,
// but only one of them may add it.
void KeepLearnedGradientOnce(const ObjectiveStates& states, const TrainingObjective& objective,
                             const dist::ProcessGroup& group) {
  if (objective.needs.separable_by_row || group.leads()) return;
  for (const model::NamedParameter& learned : states.Learned()) {
    learned.value.set_grad(tensor::Tensor());
  }
}

// Returns the gradient of the embeddings that this process encoded.
tensor::Tensor OwnGradient(const OwnPart& own, const tensor::Tensor& embeddings,
                           const TrainingObjective& objective) {
  const tensor::ProfileScope scope("exchange of gradients");
  const tensor::NoGradGuard no_gradient;
  tensor::Tensor gradient = embeddings.grad();
  if (!gradient.defined()) gradient = tensor::ZerosLike(embeddings);
  return objective.needs.separable_by_row ? own.exchange.AddUpOwn(gradient)
                                          : own.exchange.Own(gradient);
}

}  // namespace

TextShares ShareTexts(const TrainingBatch& batch, int ranks) {
  TextShares shares;
  int64_t query = 0, document = 0, query_tokens = 0, document_tokens = 0;
  int64_t all_queries = 0;
  for (int64_t text = 0; text < batch.queries; ++text) all_queries += batch.length(text);
  const int64_t all = batch.tokens();
  for (int rank = 0; rank < ranks; ++rank) {
    const dist::Share before{query, document};
    // A text on the border belongs to the process on whose side at least half of it lies.
    const auto take = [&](int64_t& next, int64_t count, int64_t first, int64_t& tokens,
                          int64_t wanted) {
      while (next < count) {
        const int64_t length = batch.length(first + next);
        if (rank + 1 < ranks && tokens + length / 2 >= wanted) break;
        tokens += length;
        ++next;
      }
    };
    take(query, batch.queries, 0, query_tokens, all_queries * (rank + 1) / ranks);
    // The documents balance the deviation of the queries from their share of tokens.
    take(document, batch.documents, batch.queries, document_tokens,
         all * (rank + 1) / ranks - query_tokens);
    shares.queries.push_back({before.begin, query});
    shares.documents.push_back({before.end, document});
  }
  return shares;
}

dist::Share SharedStep::ScoredQueries(int64_t queries, const TrainingObjective& objective) const {
  return ScoredBy(group_, queries, objective);
}

tensor::Tensor SharedStep::Encode(model::DualEncoder& model, const TrainingBatch& batch,
                                  const model::ForwardOptions& options) const {
  const OwnPart own(batch, group_);
  return Gather(own, local_->Encode(model, own.texts, options));
}

StepOutcome SharedStep::ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                        const TrainingObjective& objective, ObjectiveStates states,
                                        const StepOptions& options) const {
  const OwnPart own(batch, group_);
  const auto begin_last = [&options] {
    if (options.reducer != nullptr) options.reducer->BeginLastPass();
  };
  // The backward passes through the encoder begin with the gradient of this process's own
  // embeddings, summed over all processes.
  const auto loss_of = [&](const tensor::Tensor& encoded) {
    const tensor::Tensor embeddings = Gather(own, encoded).set_requires_grad(true);
    TrainingLoss loss =
        SharedLoss(embeddings, batch, objective, options, group_).Of(std::move(states));
    if (loss.value.defined()) BackPropagate(loss.value);
    KeepLearnedGradientOnce(loss.outcome.states, objective, group_);
    loss.gradient = OwnGradient(own, embeddings, objective);
    loss.value = own.texts.texts() > 0 ? encoded : tensor::Tensor();
    if (own.texts.texts() == 0) begin_last();
    return loss;
  };
  StepOutcome outcome =
      local_->Pass(model, own.texts, {.loss = loss_of, .before_last_pass = begin_last}, options);
  if (options.reducer != nullptr) {
    const tensor::ProfileScope scope("exchange of gradients");
    options.reducer->Finish();
  }
  return outcome;
}

}  // namespace tandem::train
