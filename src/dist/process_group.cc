#include "dist/process_group.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error.h"
#include "dist/gloo_group.h"

namespace tandem::dist {
namespace {

class Done final : public Pending {
  void Wait() override {}
};

class Single final : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  bool Takes(at::Device /*device*/) const override { return true; }
  at::Tensor AllGather(const at::Tensor& tensor) override { return tensor.unsqueeze(0); }
  std::unique_ptr<Pending> StartAllToAll(const at::Tensor& from, const at::Tensor& to) override {
    to.copy_(from);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> AddUp(at::Tensor /*tensor*/) override {
    return std::make_unique<Done>();
  }
  void Broadcast(at::Tensor /*tensor*/) override {}
  void CheckPeers() override {}
  void Report(int /*exit_code*/, std::string_view /*message*/) override {}
  void Leave() override {}
};

at::Tensor TensorOf(std::string_view bytes, int64_t size) {
  at::Tensor tensor = at::zeros({size}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

std::unique_ptr<ProcessGroup> ProcessGroup::Alone() { return std::make_unique<Single>(); }

std::unique_ptr<ProcessGroup> ProcessGroup::Join(const Launch& launch,
                                                 const GroupOptions& options) {
  if (launch.alone()) return Alone();
  return JoinByGloo(launch, options);
}

at::Tensor ProcessGroup::AllToAll(const at::Tensor& tensor) {
  const at::Tensor from = tensor.contiguous();
  const at::Tensor to = at::empty_like(from);
  StartAllToAll(from, to)->Wait();
  return to;
}

std::vector<std::string> ProcessGroup::AllGatherBytes(std::string_view bytes) {
  if (alone()) return {std::string(bytes)};
  const at::Tensor sizes =
      AllGather(at::full({1}, static_cast<int64_t>(bytes.size()), at::kLong)).contiguous();
  const auto* size = sizes.data_ptr<int64_t>();
  const int64_t longest = *std::max_element(size, size + ranks());
  std::vector<std::string> all(static_cast<size_t>(ranks()));
  if (longest == 0) return all;
  const at::Tensor gathered = AllGather(TensorOf(bytes, longest)).contiguous();
  const auto* from = static_cast<const char*>(gathered.data_ptr());
  for (int rank = 0; rank < ranks(); ++rank) {
    all[static_cast<size_t>(rank)].assign(from + rank * longest, static_cast<size_t>(size[rank]));
  }
  return all;
}

std::string ProcessGroup::BroadcastBytes(std::string_view bytes) {
  if (alone()) return std::string(bytes);
  const at::Tensor size = at::full({1}, static_cast<int64_t>(bytes.size()), at::kLong);
  Broadcast(size);
  const auto length = size.item<int64_t>();
  if (length == 0) return "";
  const at::Tensor tensor = leads() ? TensorOf(bytes, length) : at::empty({length}, at::kByte);
  Broadcast(tensor);
  return {static_cast<const char*>(tensor.data_ptr()), static_cast<size_t>(length)};
}

int64_t ProcessGroup::Largest(int64_t number) {
  if (alone()) return number;
  return AllGather(at::full({1}, number, at::kLong)).max().item<int64_t>();
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
    throw Error(static_cast<ExitCode>(std::stoi(status.substr(0, space))),
                fmt::format("this is rank {}: rank {} ended with an error: {}", rank(), other,
                            status.substr(space + 1)));
  }
}

Share ShareOf(int64_t count, int rank, int ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

}  // namespace tandem::dist
