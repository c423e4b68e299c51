#include "dist/gradient_reducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::dist {
namespace {

using tensor::kBFloat16;
using tensor::kFloat;
using tensor::kLong;
using tensor::SparseRows;
using tensor::Tensor;

// Rounded up to a multiple of the number of processes.
int64_t Padded(int64_t numbers, int64_t ranks) { return (numbers + ranks - 1) / ranks * ranks; }

}  // namespace

struct GradientReducer::State {
  // The place where a parameter's gradient travels.
  struct Place {
    size_t bucket = 0;
    int64_t begin = 0;  // of its numbers in the bucket
    int64_t flag = 0;   // in the bucket: above 0 where any process has the gradient
    bool ready = false;
  };
  // [flags, numbers, padding], float32, where the parameters are.
  struct Bucket {
    std::vector<size_t> parameters;
    int64_t numbers = 0;
    size_t ready = 0;  // parameters
    Tensor sums;       // float32 [numbers]
    Tensor rounded;    // of kBf16: what is on its way, bf16 [ranks, numbers / ranks]
    Tensor parts;      // what has come, the same
    std::unique_ptr<Pending> pending;
  };

  State(ProcessGroup& the_group, std::vector<model::NamedParameter> the_parameters,
        const ReducerOptions& the_options)
      : group(the_group), options(the_options), parameters(std::move(the_parameters)) {
    places.resize(parameters.size());
    MakeBuckets();
  }

  // The last parameters come first: the backward pass begins with them. A bucket is of one device:
  // what an objective learns is on the host.
  void MakeBuckets() {
    for (size_t i = parameters.size(); i-- > 0;) {
      const Tensor& value = parameters[i].value;
      const int64_t numbers = value.numel();
      const auto device_of = [this](const Bucket& bucket) {
        return parameters[bucket.parameters.front()].value.device();
      };
      if (buckets.empty() || device_of(buckets.back()) != value.device() ||
          (buckets.back().numbers + numbers) * 4 > options.bucket_bytes) {
        buckets.emplace_back();
      }
      buckets.back().parameters.push_back(i);
      buckets.back().numbers += numbers;
    }
    for (size_t b = 0; b < buckets.size(); ++b) {
      int64_t flag = 0, begin = std::ssize(buckets[b].parameters);
      for (const size_t i : buckets[b].parameters) {
        places[i] = {.bucket = b, .begin = begin, .flag = flag++};
        begin += parameters[i].value.numel();
      }
      buckets[b].numbers = Padded(begin, group.ranks());
    }
  }

  // Finds the gradients that are row-sparse: what any process says at the first step. They leave
  // the buckets then.
  void FindTables() {
    const int64_t count = std::ssize(parameters);
    const Tensor own = tensor::Zeros({count}, kLong);
    for (int64_t i = 0; i < count; ++i) {
      if (parameters[static_cast<size_t>(i)].value.row_grad() != nullptr) {
        own.data_ptr<int64_t>()[i] = 1;
      }
    }
    const Tensor all = group.AllGather(own);
    std::vector<bool> is_sparse(parameters.size());
    for (int64_t i = 0; i < all.numel(); ++i) {
      if (all.data_ptr<int64_t>()[i] != 0) is_sparse[static_cast<size_t>(i % count)] = true;
    }
    std::vector<model::NamedParameter> dense;
    for (size_t i = 0; i < parameters.size(); ++i) {
      (is_sparse[i] ? tables : dense).push_back(parameters[i]);
    }
    parameters = std::move(dense);
    buckets.clear();
    places.assign(parameters.size(), {});
    MakeBuckets();
    knows_tables = true;
  }

  void NumberParameters() {
    number_of.clear();
    for (size_t i = 0; i < parameters.size(); ++i) number_of[parameters[i].name] = i;
  }

  void AddHooks(const std::shared_ptr<State>& self) {
    for (const model::NamedParameter& parameter : parameters) {
      // The first step does not know the tables yet, so it sends everything at its end.
      tensor::AddGradientHook(parameter.value,
                              [weak = std::weak_ptr<State>(self), name = parameter.name] {
                                if (const auto state = weak.lock()) state->Ready(name);
                              });
    }
    NumberParameters();
  }

  void Ready(const std::string& name) {
    if (!last_pass || !knows_tables) return;
    const auto found = number_of.find(name);
    if (found == number_of.end()) return;
    Place& place = places[found->second];
    if (place.ready) return;
    place.ready = true;
    ++buckets[place.bucket].ready;
    while (next < buckets.size() && buckets[next].ready == buckets[next].parameters.size()) {
      Send(buckets[next++]);
    }
  }

  // Puts the parameter's gradient, or zeros, and whether there is one into the bucket.
  void Fill(const Bucket& bucket, size_t i) const {
    const Tensor& value = parameters[i].value;
    if (value.row_grad() != nullptr) {
      throw std::logic_error(
          fmt::format("the gradient of {} has become row-sparse", parameters[i].name));
    }
    const Tensor gradient = value.grad();
    bucket.sums[places[i].flag].fill_(gradient.defined() ? 1 : 0);
    const Tensor to = bucket.sums.narrow(0, places[i].begin, value.numel());
    gradient.defined() ? to.copy_(gradient.flatten()) : to.zero_();
  }

  void Send(Bucket& bucket) {
    if (!bucket.sums.defined()) {
      bucket.sums =
          tensor::Empty({bucket.numbers}, kFloat, parameters[bucket.parameters[0]].value.device());
    }
    const Tensor& sums = bucket.sums;
    int64_t end = std::ssize(bucket.parameters);
    for (const size_t i : bucket.parameters) {
      Fill(bucket, i);
      end = places[i].begin + parameters[i].value.numel();
    }
    sums.narrow(0, end, bucket.numbers - end).zero_();
    if (options.type == ReduceType::kFp32) {
      bucket.pending = group.AddUp(sums);
      bytes += 2 * bucket.numbers * 4 * (group.ranks() - 1) / group.ranks();
      return;
    }
    bucket.rounded = Rounded(sums);
    bucket.parts = tensor::EmptyLike(bucket.rounded);
    bucket.pending = group.StartAllToAll(bucket.rounded, bucket.parts);
  }

  void Receive(Bucket& bucket) {
    std::exchange(bucket.pending, nullptr)->Wait();
    if (options.type == ReduceType::kBf16) bucket.sums.copy_(SumOf(bucket.parts));
    const Tensor flags = tensor::OnCpu(bucket.sums.narrow(0, 0, std::ssize(bucket.parameters)));
    const auto* flag = flags.data_ptr<float>();
    for (const size_t i : bucket.parameters) {
      const model::NamedParameter& parameter = parameters[i];
      const bool any = flag[places[i].flag] > 0;
      parameter.value.set_grad(any ? bucket.sums.narrow(0, places[i].begin, parameter.value.numel())
                                         .view(parameter.value.sizes())
                                   : Tensor());
    }
  }

  // The rows that any process has, increasing. `own`, int64 [n], is on the host.
  std::vector<int64_t> AllRows(const Tensor& own) const {
    const int64_t most = std::max<int64_t>(1, group.Largest(own.size(0)));
    const Tensor padded = tensor::Full({most}, -1, kLong);
    padded.narrow(0, 0, own.size(0)).copy_(own);
    const Tensor all = group.AllGather(padded);
    const auto* from = all.data_ptr<int64_t>();
    std::vector<int64_t> rows(from, from + all.numel());
    std::erase(rows, -1);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  // For each of `rows`, increasing, which of `own`, int64 [n] increasing, it is; n: none of them.
  static Tensor PlacesIn(const Tensor& own, const std::vector<int64_t>& rows) {
    const Tensor places = tensor::Empty({std::ssize(rows)}, kLong);
    auto* place = places.data_ptr<int64_t>();
    const auto* first = own.data_ptr<int64_t>();
    const int64_t count = own.size(0);
    int64_t next_own = 0;
    for (const int64_t row : rows) {
      const bool is_own = next_own < count && first[next_own] == row;
      *place++ = is_own ? next_own++ : count;
    }
    return places;
  }

  // The table's gradient of this process. Without one it is no rows.
  static SparseRows OwnRows(const Tensor& table) {
    if (const SparseRows* rows = table.row_grad()) return *rows;
    if (table.grad().defined()) {
      throw std::logic_error("the gradient of a table that was row-sparse is so no longer");
    }
    return {tensor::Empty({0}, kLong, table.device()),
            tensor::Empty({0, table.size(1)}, kFloat, table.device())};
  }

  void AddUpTable(const Tensor& table) {
    const SparseRows own = OwnRows(table);
    const Tensor own_rows = tensor::OnCpu(own.rows);
    const std::vector<int64_t> all = AllRows(own_rows);
    table.set_grad(Tensor());
    if (all.empty()) return;
    // A row of zeros at the end, for the rows of others.
    const tensor::Device device = table.device();
    const Tensor padded =
        tensor::Cat({own.values, tensor::Zeros({1, table.size(1)}, kFloat, device)});
    Tensor values = tensor::TakeRows(padded, tensor::MovedTo(PlacesIn(own_rows, all), device));
    if (options.type == ReduceType::kFp32) {
      group.AddUp(values)->Wait();
      bytes += 2 * values.numel() * 4 * (group.ranks() - 1) / group.ranks();
    } else {
      values = AddUpRounded(values);
    }
    const Tensor rows = tensor::Empty({std::ssize(all)}, kLong);
    std::copy(all.begin(), all.end(), rows.data_ptr<int64_t>());
    tensor::AddRowGradient(table, {tensor::MovedTo(rows, device), values});
  }

  // What is sent of `numbers`: bf16 [ranks, n / ranks].
  Tensor Rounded(const Tensor& numbers) {
    bytes += 2 * numbers.numel() * 2 * (group.ranks() - 1) / group.ranks();
    return numbers.to(kBFloat16).view({group.ranks(), numbers.numel() / group.ranks()});
  }

  // The sums [n], bf16, from what all processes have sent of this one's share, [ranks, n / ranks].
  Tensor SumOf(const Tensor& parts) {
    const Tensor sum = parts[0].to(kFloat);
    for (int64_t rank = 1; rank < group.ranks(); ++rank) sum.add_(parts[rank].to(kFloat));
    return group.AllGather(sum.to(kBFloat16)).flatten();
  }

  // The sum over all processes of `values`, which are rounded on their way.
  Tensor AddUpRounded(const Tensor& values) {
    const Tensor flat =
        tensor::Zeros({Padded(values.numel(), group.ranks())}, kFloat, values.device());
    flat.narrow(0, 0, values.numel()).copy_(values.flatten());
    const Tensor sums = SumOf(group.AllToAll(Rounded(flat)));
    return sums.narrow(0, 0, values.numel()).to(kFloat).view(values.sizes());
  }

  ProcessGroup& group;
  ReducerOptions options;
  std::vector<model::NamedParameter> parameters;  // dense ones, once the tables are known
  std::vector<model::NamedParameter> tables;
  bool knows_tables = false;
  std::map<std::string, size_t> number_of;  // of parameters, by name
  std::vector<Place> places;
  std::vector<Bucket> buckets;
  size_t next = 0;  // bucket to be sent
  bool last_pass = false;
  int64_t bytes = 0;
};

GradientReducer::GradientReducer(ProcessGroup& group, std::vector<model::NamedParameter> parameters,
                                 const ReducerOptions& options)
    : state_(std::make_shared<State>(group, std::move(parameters), options)) {
  if (!group.alone()) state_->AddHooks(state_);
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::BeginLastPass() {
  State& state = *state_;
  state.last_pass = true;
  state.next = 0;
  for (State::Place& place : state.places) place.ready = false;
  for (State::Bucket& bucket : state.buckets) bucket.ready = 0;
}

void GradientReducer::Finish() {
  State& state = *state_;
  state.last_pass = false;
  if (state.group.alone()) return;
  if (!state.knows_tables) {
    state.FindTables();
    state.NumberParameters();
  }
  while (state.next < state.buckets.size()) state.Send(state.buckets[state.next++]);
  for (State::Bucket& bucket : state.buckets) state.Receive(bucket);
  for (const model::NamedParameter& table : state.tables) state.AddUpTable(table.value);
}

int64_t GradientReducer::TakeBytes() { return std::exchange(state_->bytes, 0); }

}  // namespace tandem::dist
