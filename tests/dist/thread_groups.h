// Groups of threads of a test, which exchange through the memory that they share: what uses a
// group is tested without connections and without a back end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/process_group.h"
#include "tensor/core/make.h"

namespace tandem::dist {

// Where the threads of one group meet.
class MeetingPlace {
 public:
  explicit MeetingPlace(int ranks) : ranks_(ranks), given_(static_cast<size_t>(ranks)) {}

  int ranks() const { return ranks_; }

  // What all have given, by rank, once all have. Throws where one ends with an error instead.
  std::vector<tensor::Tensor> Exchange(int rank, const tensor::Tensor& own) {
    std::unique_lock lock(mutex_);
    given_[static_cast<size_t>(rank)] = own.detach().clone();
    const uint64_t round = round_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++round_;
      all_ = given_;
      all_are_there_.notify_all();
    }
    all_are_there_.wait(lock, [&] { return round_ != round || failure_.has_value(); });
    if (round_ == round) Throw(rank);
    return all_;  // stays until all meet again
  }

  void Fail(int rank, std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (failure_.has_value()) return;
    failure_ = "rank " + std::to_string(rank) + " ended with an error: " + std::string(message);
    all_are_there_.notify_all();
  }

  void Check(int rank) {
    const std::lock_guard lock(mutex_);
    if (failure_.has_value()) Throw(rank);
  }

 private:
  [[noreturn]] void Throw(int rank) const {
    throw PeerLost("this is rank " + std::to_string(rank) + ": " + *failure_);
  }

  const int ranks_;
  std::mutex mutex_;
  std::condition_variable all_are_there_;
  std::vector<tensor::Tensor> given_, all_;
  int arrived_ = 0;
  uint64_t round_ = 0;
  std::optional<std::string> failure_;
};

class ThreadGroup final : public ProcessGroup {
 public:
  ThreadGroup(std::shared_ptr<MeetingPlace> place, int rank)
      : place_(std::move(place)), rank_(rank) {}

  int rank() const override { return rank_; }
  int ranks() const override { return place_->ranks(); }

  tensor::Tensor AllGather(const tensor::Tensor& tensor) override {
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin(), ranks());
    const tensor::Tensor all = tensor::Empty(sizes, tensor.dtype());
    const std::vector<tensor::Tensor> given = place_->Exchange(rank_, tensor);
    for (int rank = 0; rank < ranks(); ++rank) {
      all[rank].copy_(given[static_cast<size_t>(rank)]);
    }
    return all;
  }

  std::unique_ptr<Pending> StartAllToAll(const tensor::Tensor& from,
                                         const tensor::Tensor& to) override {
    const std::vector<tensor::Tensor> given = place_->Exchange(rank_, from);
    for (int rank = 0; rank < ranks(); ++rank) {
      to[rank].copy_(given[static_cast<size_t>(rank)][rank_]);
    }
    return std::make_unique<Complete>();
  }

  std::unique_ptr<Pending> AddUp(tensor::Tensor tensor) override {
    const std::vector<tensor::Tensor> given = place_->Exchange(rank_, tensor);
    tensor.copy_(given.front());
    for (size_t rank = 1; rank < given.size(); ++rank) tensor.add_(given[rank]);
    return std::make_unique<Complete>();
  }

  void Broadcast(tensor::Tensor tensor) override {
    const tensor::Tensor from = place_->Exchange(rank_, tensor).front();
    // Rank 0's own may be mapped to be read only. As with Gloo it counts as written.
    rank_ == 0 ? tensor.bump_version() : static_cast<void>(tensor.copy_(from));
  }

  void CheckPeers() override { place_->Check(rank_); }
  void Report(int /*exit_code*/, std::string_view message) override {
    place_->Fail(rank_, message);
  }
  void Leave() override { place_->Exchange(rank_, tensor::Zeros({1}, tensor::kFloat)); }

 private:
  class Complete final : public Pending {
    void Wait() override {}
  };

  std::shared_ptr<MeetingPlace> place_;
  int rank_;
};

}  // namespace tandem::dist
