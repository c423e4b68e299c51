#include "dist/process_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "tensor/core/back_end/back_end_part.h"
#include "tensor/core/make.h"

namespace tandem::dist {
namespace {

using tensor::Empty;
using tensor::kByte;
using tensor::kLong;
using tensor::Tensor;

class Done final : public Pending {
  void Wait() override {}
};

class Single final : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  bool Takes(tensor::Device /*device*/) const override { return true; }
  Tensor AllGather(const Tensor& tensor) override {
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin(), 1);
    return tensor.view(sizes);
  }
  std::unique_ptr<Pending> StartAllToAll(const Tensor& from, const Tensor& to) override {
    to.copy_(from);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> AddUp(Tensor /*tensor*/) override { return std::make_unique<Done>(); }
  void Broadcast(Tensor /*tensor*/) override {}
  void CheckPeers() override {}
  void Report(int /*exit_code*/, std::string_view /*message*/) override {}
  void Leave() override {}
};

// The bytes with zeros below, uint8 [size].
Tensor TensorOf(std::string_view bytes, int64_t size) {
  const Tensor tensor = tensor::Zeros({size}, kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

Tensor NumberTensor(int64_t number) {
  const Tensor tensor = Empty({1}, kLong);
  *tensor.data_ptr<int64_t>() = number;
  return tensor;
}

constinit tensor::BackEndPart<GroupMaker> maker_part("groups of processes");

// The maker, after the back end was loaded where there is none yet.
GroupMaker LoadedMaker(const Launch& launch) {
  try {
    return maker_part.Get();
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("this is rank {} of {} processes, which work together by "
                    "libtandem-torch.so: {}",
                    launch.rank, launch.ranks, error.what()));
  }
}

}  // namespace

void SetGroupMaker(GroupMaker maker) { maker_part.Set(std::move(maker)); }

std::unique_ptr<ProcessGroup> ProcessGroup::Alone() { return std::make_unique<Single>(); }

std::unique_ptr<ProcessGroup> ProcessGroup::Join(const Launch& launch,
                                                 const GroupOptions& options) {
  if (launch.alone()) return Alone();
  return LoadedMaker(launch)(launch, options);
}

Tensor ProcessGroup::AllToAll(const Tensor& tensor) {
  const Tensor to = tensor::EmptyLike(tensor);
  StartAllToAll(tensor, to)->Wait();
  return to;
}

std::vector<std::string> ProcessGroup::AllGatherBytes(std::string_view bytes) {
  if (alone()) return {std::string(bytes)};
  const Tensor sizes = AllGather(NumberTensor(std::ssize(bytes)));
  const auto* size = sizes.data_ptr<int64_t>();
  const int64_t longest = *std::max_element(size, size + ranks());
  std::vector<std::string> all(static_cast<size_t>(ranks()));
  if (longest == 0) return all;
  const Tensor gathered = AllGather(TensorOf(bytes, longest));
  const auto* from = static_cast<const char*>(gathered.data_ptr());
  for (int rank = 0; rank < ranks(); ++rank) {
    all[static_cast<size_t>(rank)].assign(from + rank * longest, static_cast<size_t>(size[rank]));
  }
  return all;
}

std::string ProcessGroup::BroadcastBytes(std::string_view bytes) {
  if (alone()) return std::string(bytes);
  const Tensor size = NumberTensor(std::ssize(bytes));
  Broadcast(size);
  const auto length = size.item<int64_t>();
  if (length == 0) return "";
  const Tensor tensor = leads() ? TensorOf(bytes, length) : Empty({length}, kByte);
  Broadcast(tensor);
  return {static_cast<const char*>(tensor.data_ptr()), static_cast<size_t>(length)};
}

int64_t ProcessGroup::Largest(int64_t number) {
  if (alone()) return number;
  const Tensor all = AllGather(NumberTensor(number));
  const auto* first = all.data_ptr<int64_t>();
  return *std::max_element(first, first + ranks());
}

void ProcessGroup::Agree(const std::function<void()>& body) {
  if (alone()) return body();
  std::exception_ptr failure;
  std::string mine;  // "" where all went well, else exit code and message
  const auto failed = [&](ExitCode code, const char* what) {
    failure = std::current_exception();
    mine = fmt::format("{} {}", static_cast<int>(code), what);
  };
  try {
    body();
  } catch (const PeerLost&) {
    throw;  // the others know it, or cannot be told
  } catch (const Error& error) {
    failed(error.exit_code(), error.what());
  } catch (const std::exception& error) {
    failed(ExitCode::kInternal, error.what());
  }
  const std::vector<std::string> all = AllGatherBytes(mine);
  agreed_to_end_ =
      std::any_of(all.begin(), all.end(), [](const auto& one) { return !one.empty(); });
  if (failure) std::rethrow_exception(failure);
  for (int other = 0; other < ranks(); ++other) {
    const std::string& status = all[static_cast<size_t>(other)];
    if (status.empty()) continue;
    const size_t space = status.find(' ');
    throw OtherFailed(static_cast<ExitCode>(std::stoi(status.substr(0, space))),
                      fmt::format("this is rank {}: rank {} ended with an error: {}", rank(), other,
                                  status.substr(space + 1)));
  }
}

bool ProcessGroup::RecoverTogether(bool ready) {
  if (alone()) return ready;
  if (!agreed_to_end_ || Largest(ready ? 0 : 1) != 0) return false;
  agreed_to_end_ = false;
  return true;
}

Share ShareOf(int64_t count, int rank, int ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

}  // namespace tandem::dist
