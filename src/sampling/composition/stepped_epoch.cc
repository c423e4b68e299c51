#include <algorithm>
#include <utility>

#include "sampling/composition/epochs.h"

namespace tandem::sampling {
namespace {

// Says how many draws in a row a batch may refuse, for each of its places, before it stays smaller:
// enough that it is full unless more than 15 of 16 queries share a few texts or documents.
constexpr size_t kLooks = 16;
constexpr const char* kWaiting = "waiting";
constexpr size_t kWaitingNumbers = 4;  // queue, by_document, query, document
constexpr const char* kRepeats = "waiting repeats";

}  // namespace

SteppedEpoch::SteppedEpoch(SteppedOrder& order, const Examples& examples,
                           const SteppedOptions& options)
    : order_(order), examples_(examples), options_(options) {}

size_t SteppedEpoch::Planned() const {
  return (order_.draws() + options_.batch - 1) / options_.batch;
}

// Where all batches so far had the size that was meant for them, sizes differ by at most one, the
// larger ones first.
size_t SteppedEpoch::Size() const {
  const size_t left = order_.draws() - placed_;
  const size_t planned = Planned();
  if (batches_ >= planned) return std::min(left, options_.batch);
  const size_t batches_left = planned - batches_;
  return std::min(options_.batch, (left + batches_left - 1) / batches_left);
}

bool SteppedEpoch::TakesAll() const {
  return !options_.no_duplicates || (options_.limits != nullptr && batches_ + 1 >= Planned());
}

bool SteppedEpoch::Fits(const Draw& draw) const {
  if (TakesAll()) return true;
  const uint64_t text = examples_.query_hash(draw.query);
  const uint64_t document = examples_.document_hash(draw.document);
  const auto has_room = [](const auto& counts, uint64_t hash, size_t limit) {
    const auto found = counts.find(hash);
    return found == counts.end() || found->second < limit;
  };
  const CopyLimits* limits = options_.limits;
  return has_room(texts_, text, limits != nullptr ? limits->OfText(text) : 1) &&
         has_room(documents_, document, limits != nullptr ? limits->OfDocument(document) : 1);
}

void SteppedEpoch::Put(const Draw& draw, std::vector<Draw>& batch) {
  batch.push_back(draw);
  if (!options_.no_duplicates) return;
  ++texts_[examples_.query_hash(draw.query)];
  ++documents_[examples_.document_hash(draw.document)];
}

std::vector<Draw> SteppedEpoch::Next(double progress, bool rank_anew) {
  texts_.clear();
  documents_.clear();
  order_.BeginBatch(progress, rank_anew);
  const size_t size = Size();
  std::vector<Draw> batch;
  batch.reserve(size);
  TakeWaiting(size, batch);
  TakeNew(size, batch);
  ++batches_;
  placed_ += batch.size();
  return batch;
}

// Takes as many of each queue as fit: the others of it have the same key.
void SteppedEpoch::TakeWaiting(size_t size, std::vector<Draw>& batch) {
  bool any_empty = false;
  for (Queue& queue : waiting_) {
    while (batch.size() < size && !queue.draws.empty() && Fits(queue.draws.front())) {
      Put(queue.draws.front(), batch);
      queue.draws.pop_front();
    }
    any_empty = any_empty || queue.draws.empty();
  }
  if (any_empty) std::erase_if(waiting_, [](const Queue& queue) { return queue.draws.empty(); });
}

void SteppedEpoch::TakeNew(size_t size, std::vector<Draw>& batch) {
  size_t looks = kLooks * size;
  while (batch.size() < size) {
    const std::optional<Draw> draw = order_.Propose();
    if (!draw) return;
    if (Fits(*draw)) {
      order_.Take();
      Put(*draw, batch);
    } else if (order_.is_sure()) {
      order_.Take();
      Wait(*draw);
    } else {
      if (looks-- == 0) return;
      order_.Skip();
    }
  }
}

void SteppedEpoch::Wait(const Draw& draw) {
  const uint64_t document = examples_.document_hash(draw.document);
  const bool by_document = documents_.contains(document);
  const uint64_t key = by_document ? document : examples_.query_hash(draw.query);
  for (Queue& queue : waiting_) {
    if (queue.by_document == by_document && queue.key == key) {
      queue.draws.push_back(draw);
      return;
    }
  }
  waiting_.push_back({by_document, key, {draw}});
}

void SteppedEpoch::Save(SamplerState& state) const {
  state.values["batch"] = batches_;
  state.values["placed"] = placed_;
  std::vector<uint32_t> waiting, repeats;
  for (uint32_t queue = 0; queue < waiting_.size(); ++queue) {
    for (const Draw& draw : waiting_[queue].draws) {
      for (const uint32_t number :
           {queue, waiting_[queue].by_document ? 1U : 0U, draw.query, draw.document}) {
        waiting.push_back(number);
      }
      repeats.push_back(draw.repeat);
    }
  }
  state.Add(kWaiting, std::move(waiting));
  const auto is_first = [](uint32_t repeat) { return repeat == 0; };
  if (std::all_of(repeats.begin(), repeats.end(), is_first)) return;
  state.Add(kRepeats, std::move(repeats));
}

void SteppedEpoch::Restore(const SamplerState& state) {
  batches_ = state.values.at("batch").get<uint64_t>();
  placed_ = state.values.at("placed").get<size_t>();
  waiting_.clear();
  const auto waiting = state.Integers(kWaiting);
  std::span<const uint32_t> repeats;
  if (state.Has(kRepeats)) repeats = state.Integers(kRepeats, waiting.size() / kWaitingNumbers);
  for (size_t i = 0; i + kWaitingNumbers <= waiting.size(); i += kWaitingNumbers) {
    Draw draw{.query = waiting[i + 2], .document = waiting[i + 3]};
    if (!repeats.empty()) draw.repeat = repeats[i / kWaitingNumbers];
    if (waiting[i] == waiting_.size()) {
      const bool by_document = waiting[i + 1] != 0;
      waiting_.push_back(
          {by_document,
           by_document ? examples_.document_hash(draw.document) : examples_.query_hash(draw.query),
           {}});
    }
    waiting_.back().draws.push_back(draw);
  }
}

}  // namespace tandem::sampling
