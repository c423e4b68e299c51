#include "sampling/ordered_sampler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "sampling/composition/composition.h"
#include "sampling/composition/pooled_epoch.h"
#include "sampling/extra_documents.h"

namespace tandem::sampling {
namespace {

std::unique_ptr<Order> MakeOrderFor(Pairs& pairs, const SamplerOptions& options,
                                    const OrderedSampler::MakeOrder& make) {
  if (options.batch == 0) throw std::invalid_argument("a batch needs at least one query");
  return make(pairs);
}

// Numbers the way in which epochs are made, as saved states name it. Version 1 (states without a
// number) put duplicates off to later batches and drew hard negatives from all documents below the
// positive grade. In version 2 copies never met.
constexpr int kPlanVersion = 3;
constexpr int kCopiesNeverMet = 2;

}  // namespace

OrderedSampler::OrderedSampler(const Examples& examples, const SamplerOptions& options,
                               const MakeOrder& make)
    : options_(options),
      pairs_(examples, options.graded_own),
      order_(MakeOrderFor(pairs_, options, make)),
      composer_(pairs_, options),
      kept_hash_(pairs_.kept_hash()) {
  options_.scores = {};
  options_.sources = {};
  planned_ = dynamic_cast<PlannedOrder*>(order_.get());
  stepped_ = dynamic_cast<SteppedOrder*>(order_.get());
  if (planned_ != nullptr && options_.no_duplicates && composer_.plain()) {
    keys_ = SharedKeys(pairs_, *planned_);
  }
  options_.copies_meet = options_.copies_meet && options_.no_duplicates;
  if (stepped_ != nullptr && options_.copies_meet && composer_.plain()) {
    limits_.emplace(pairs_, *stepped_, options_.batch, composer_.copies());
  }
  order_->Begin(0, 0);
  composed_ = Compose();
  if (composer_.by_tokens()) estimate_ = EstimateBatches();
}

DrawBatches OrderedSampler::ComposePlan(uint64_t epoch) const {
  const std::vector<Draw> draws = planned_->Plan(epoch);
  const RandomStream random({options_.seed, "sampling batches", epoch});
  if (!composer_.plain()) return composer_.Compose(draws, random);
  const EvenOptions options{.batch = options_.batch, .copies = composer_.copies()};
  return DrawBatches::Sorted(draws, ComposeEvenly(keys_.Of(draws), options, random));
}

std::unique_ptr<Epoch> OrderedSampler::Compose() const {
  if (planned_ != nullptr) return std::make_unique<PlannedEpoch>(ComposePlan(epoch_));
  if (composer_.plain()) {
    return std::make_unique<SteppedEpoch>(*stepped_, pairs_.examples(),
                                          SteppedOptions{.batch = options_.batch,
                                                         .no_duplicates = options_.no_duplicates,
                                                         .limits = limits_ ? &*limits_ : nullptr});
  }
  return std::make_unique<PooledEpoch>(*stepped_, composer_, options_.seed, epoch_);
}

// The number of the first epoch's batches, or, where it is not known, that of its draws with as
// many tokens as queries have on average.
uint64_t OrderedSampler::EstimateBatches() const {
  if (const auto* planned = dynamic_cast<const PlannedEpoch*>(composed_.get())) {
    return planned->planned();
  }
  return composer_.EstimateBatches(order_->draws());
}

double OrderedSampler::Passes() const {
  const auto draws = static_cast<double>(order_->draws());
  return (static_cast<double>(epoch_) * draws + static_cast<double>(composed_->placed())) / draws;
}

double OrderedSampler::Progress() const {
  const RunLength& length = options_.length;
  const double progress = length.batches
                              ? static_cast<double>(batches_ - batches_ % options_.accumulate) /
                                    static_cast<double>(*length.batches)
                              : Passes() / length.epochs;
  return std::min(progress, 1.0);
}

// Steps are counted from the epoch's beginning, where everything is ranked.
bool OrderedSampler::RanksAnew() const {
  if (stepped_ == nullptr) return false;
  const uint64_t interval =
      static_cast<uint64_t>(stepped_->update_interval()) * options_.accumulate;
  return composed_->batches() % interval == 0;
}

Batch OrderedSampler::Next() {
  if (composed_->AtEnd()) {
    const double progress = Progress();
    order_->Begin(++epoch_, progress);
    composed_ = Compose();
  }
  if (audit_ != nullptr && composed_->batches() == 0) {
    audit_->BeginPass(epoch_, pairs_, order_->Probabilities());
  }
  const std::vector<Draw> draws = composed_->Next(Progress(), RanksAnew());
  ++batches_;
  if (audit_ != nullptr) {
    audit_->AddBatch(draws);
    if (composed_->AtEnd()) audit_->EndPass(order_->NotDrawn());
  }
  Batch batch{.epoch = epoch_};
  for (const Draw& draw : draws) {
    batch.queries.push_back(draw.query);
    batch.documents.push_back(draw.document);
    batch.weights.push_back(order_->weight(draw));
  }
  const auto is_one = [](double weight) { return weight == 1; };
  if (std::all_of(batch.weights.begin(), batch.weights.end(), is_one)) batch.weights = {};
  AddExtra(pairs_, mined_,
           {.seed = options_.seed,
            .count = options_.negatives,
            .no_duplicates = options_.no_duplicates,
            .in_batch = options_.in_batch},
           draws, batch);
  return batch;
}

bool OrderedSampler::KnowsBatches() const {
  if (stepped_ != nullptr) return !options_.no_duplicates && composer_.plain();
  return planned_->known_ahead() && !composer_.by_tokens();
}

uint64_t OrderedSampler::FullBatches(uint64_t epoch) const {
  return (order_->DrawsIn(epoch) + options_.batch - 1) / options_.batch;
}

uint64_t OrderedSampler::BatchesOf(uint64_t epoch) const {
  if (composer_.by_tokens()) return estimate_;
  if (!composer_.plain() && KnowsBatches()) return composer_.Count(planned_->Plan(epoch));
  const uint64_t full = FullBatches(epoch);
  if (keys_.most() <= full || !KnowsBatches()) return full;
  return CountBatches(keys_.Of(planned_->Plan(epoch)), options_.batch, composer_.copies());
}

uint64_t OrderedSampler::BatchesIn(double epochs) const {
  const double whole = std::floor(epochs);
  uint64_t total = 0;
  for (uint64_t epoch = 0; epoch < static_cast<uint64_t>(whole); ++epoch) total += BatchesOf(epoch);
  if (epochs == whole) return total;
  const auto batches = static_cast<double>(BatchesOf(static_cast<uint64_t>(whole)));
  // 2.2 - 2 is a little more than 0.2, so a result that close to a whole number counts as that
  // number.
  return total + static_cast<uint64_t>(std::ceil((epochs - whole) * batches - 1e-6));
}

// Where the order has no state, seed and epoch decide everything, and the number of its batches so
// far says where it stands.
SamplerState OrderedSampler::State() const {
  const int plan = copies_forbidden_ ? kCopiesNeverMet : kPlanVersion;
  SamplerState state{.values = {{"plan", plan}, {"epoch", epoch_}}};
  composed_->Save(state);
  mined_.Save(state);
  if (kept_hash_ != 0) state.values["kept_pairs"] = kept_hash_;
  if (order_->has_state()) {
    state.values["batches"] = batches_;
    order_->Save(state);
  }
  return state;
}

void OrderedSampler::Restore(const SamplerState& state) {
  const auto epoch = state.values.at("epoch").get<uint64_t>();
  static_cast<void>(state.values.at("batch").get<uint64_t>());
  const int version = state.values.value("plan", 1);
  CheckPlan(version);
  CheckKeptPairs(state);
  const bool forbid = version <= kCopiesNeverMet && options_.copies_meet;
  if (forbid) ForbidCopies();
  const bool anew = forbid || epoch != epoch_ || order_->has_state();
  epoch_ = epoch;
  if (order_->has_state()) {
    batches_ = state.values.at("batches").get<uint64_t>();
    order_->Restore(state, epoch);
  } else if (anew) {
    order_->Begin(epoch, 0);
  }
  if (anew) composed_ = Compose();
  composed_->Restore(state);
  mined_ = ExtraPool::Restore(pairs_.examples(), state);
}

// The first version makes the same batches where queries share nothing, fill whole batches, and
// have no related documents.
bool OrderedSampler::FirstPlanIsTheSame() const {
  const Examples& examples = pairs_.examples();
  const bool draws_others = options_.graded_own || options_.negatives > 0;
  for (size_t query = 0; draws_others && query < examples.size(); ++query) {
    if (!examples.related(query).empty()) return false;
  }
  const bool alone = keys_.most() <= 1;
  const bool one_batch = examples.size() <= options_.batch;
  return composer_.plain() && alone && (one_batch || examples.size() % options_.batch == 0);
}

size_t OrderedSampler::MostCopies() const {
  if (!options_.copies_meet) return 1;
  if (limits_) return limits_->most();
  const auto* planned = dynamic_cast<const PlannedEpoch*>(composed_.get());
  if (planned == nullptr) return 1;
  const Examples& examples = pairs_.examples();
  size_t most = 1;
  std::unordered_map<uint64_t, size_t> texts, documents;
  for (size_t batch = 0; batch < planned->all().size(); ++batch) {
    texts.clear();
    documents.clear();
    for (const Draw& draw : planned->all().Batch(batch)) {
      most = std::max({most, ++texts[examples.query_hash(draw.query)],
                       ++documents[examples.document_hash(draw.document)]});
    }
  }
  return most;
}

// Says whether copies meet in an epoch of the run; epochs are known ahead.
bool OrderedSampler::CopiesMeet() const {
  const auto passes = static_cast<uint64_t>(std::ceil(options_.length.epochs));
  for (uint64_t epoch = 0; epoch < passes; ++epoch) {
    const std::vector<Draw> draws = planned_->Plan(epoch);
    const uint64_t strict = composer_.plain()
                                ? CountBatches(keys_.Of(draws), options_.batch, Copies::kNever)
                                : composer_.Count(draws, Copies::kNever);
    if (strict != BatchesOf(epoch)) return true;
  }
  return false;
}

// After this call batches are those of version 2.
void OrderedSampler::ForbidCopies() {
  copies_forbidden_ = true;
  options_.copies_meet = false;
  limits_.reset();
  composer_.set_copies(Copies::kNever);
}

// A run of version 2 goes on with its own composition, but where the number of its steps followed
// from that: it has been counted anew before.
void OrderedSampler::CheckPlan(int version) const {
  const bool counted = KnowsBatches() && !options_.length.batches && options_.copies_meet;
  if (version == kPlanVersion) return;
  const bool is_known = version == kCopiesNeverMet || (version == 1 && FirstPlanIsTheSame());
  if (is_known && !(counted && CopiesMeet())) return;
  throw ModelError("the checkpoint", "",
                   "its sampler's plan was made by another version of Tandem, which put other "
                   "queries into a batch, so that this one cannot continue the run exactly; "
                   "start a new run, or finish this one with the version that began it");
}

// Scores of the base model differ in their last digits between instruction sets and numbers of
// threads, and which of two pairs at the border is kept may differ with them.
void OrderedSampler::CheckKeptPairs(const SamplerState& state) const {
  const Json* const found = state.values.Find("kept_pairs");
  if (found == nullptr || *found == kept_hash_) return;
  throw ModelError(
      "the checkpoint", "",
      "other pairs were left out when the run began than the base model's scores leave out here, "
      "so that this run cannot be continued exactly; resume it with the instruction sets (isa in "
      "its timing.jsonl) and libraries that it began with, or start a new run");
}

}  // namespace tandem::sampling
