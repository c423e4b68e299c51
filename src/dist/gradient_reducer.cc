#include "dist/gradient_reducer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "tensor/row_gradient.h"

namespace tandem::dist {
namespace {

using torch::autograd::variable_list;

// Told when the backward pass has added to a parameter's gradient.
class ReadyHook final : public torch::autograd::FunctionPostHook {
 public:
  explicit ReadyHook(std::function<void()> ready) : ready_(std::move(ready)) {}
  variable_list operator()(const variable_list& outputs, const variable_list& /*inputs*/) override {
    ready_();
    return outputs;
  }

 private:
  std::function<void()> ready_;
};

using Accumulator = decltype(torch::autograd::impl::grad_accumulator(std::declval<at::Tensor>()));

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
    size_t ready = 0;    // parameters
    at::Tensor sums;     // float32 [numbers]
    at::Tensor rounded;  // of kBf16: what is on its way, [ranks, numbers / ranks]
    at::Tensor parts;    // what has come, the same
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
      const at::Tensor& value = parameters[i].value;
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
    at::Tensor sparse = at::zeros({std::ssize(parameters)}, at::kLong);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor& gradient = parameters[i].value.grad();
      if (gradient.defined() && gradient.is_sparse()) sparse[static_cast<int64_t>(i)].fill_(1);
    }
    sparse = std::get<0>(group.AllGather(sparse).max(0));
    const auto* is_sparse = sparse.data_ptr<int64_t>();
    std::vector<model::NamedParameter> dense;
    for (size_t i = 0; i < parameters.size(); ++i) {
      (is_sparse[i] != 0 ? tables : dense).push_back(parameters[i]);
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
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Accumulator accumulator = torch::autograd::impl::grad_accumulator(parameters[i].value);
      // The first step does not know the tables yet, so it sends everything at its end.
      accumulator->add_post_hook(std::make_unique<ReadyHook>(
          [weak = std::weak_ptr<State>(self), name = parameters[i].name] {
            if (const auto state = weak.lock()) state->Ready(name);
          }));
      accumulators.push_back(accumulator);
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

  void Send(Bucket& bucket) {
    if (!bucket.sums.defined()) {
      bucket.sums = at::empty({bucket.numbers}, FloatsBeside(parameters[bucket.parameters[0]]));
    }
    at::Tensor& sums = bucket.sums;
    int64_t end = std::ssize(bucket.parameters);
    for (const size_t i : bucket.parameters) {
      const at::Tensor& gradient = parameters[i].value.grad();
      if (gradient.defined() && gradient.is_sparse()) {
        throw std::logic_error(
            fmt::format("the gradient of {} has become row-sparse", parameters[i].name));
      }
      sums[places[i].flag].fill_(gradient.defined() ? 1 : 0);
      const int64_t numbers = parameters[i].value.numel();
      const at::Tensor to = sums.narrow(0, places[i].begin, numbers);
      gradient.defined() ? to.copy_(gradient.reshape({-1})) : to.zero_();
      end = places[i].begin + numbers;
    }
    sums.narrow(0, end, bucket.numbers - end).zero_();
    if (options.type == ReduceType::kFp32) {
      bucket.pending = group.AddUp(sums);
      bytes += 2 * bucket.numbers * 4 * (group.ranks() - 1) / group.ranks();
      return;
    }
    bucket.rounded = Rounded(sums);
    bucket.parts = at::empty_like(bucket.rounded);
    bucket.pending = group.StartAllToAll(bucket.rounded, bucket.parts);
  }

  void Receive(Bucket& bucket) {
    std::exchange(bucket.pending, nullptr)->Wait();
    if (options.type == ReduceType::kBf16) bucket.sums.copy_(SumOf(bucket.parts));
    const at::Tensor flags = bucket.sums.narrow(0, 0, std::ssize(bucket.parameters)).cpu();
    const auto* flag = flags.data_ptr<float>();
    for (const size_t i : bucket.parameters) {
      const model::NamedParameter& parameter = parameters[i];
      const bool any = flag[places[i].flag] > 0;
      parameter.value.mutable_grad() =
          any ? bucket.sums.narrow(0, places[i].begin, parameter.value.numel())
                    .view(parameter.value.sizes())
              : at::Tensor();
    }
  }

  static at::TensorOptions FloatsBeside(const model::NamedParameter& parameter) {
    return at::TensorOptions(at::kFloat).device(parameter.value.device());
  }

  // The rows that any process has, increasing, int64 [n], on the host as `own` is.
  at::Tensor AllRows(const at::Tensor& own) const {
    const at::Tensor counts = group.AllGather(at::full({1}, own.size(0), at::kLong));
    const int64_t most = std::max<int64_t>(1, counts.max().item<int64_t>());
    const at::Tensor padded = at::cat({own, at::full({most - own.size(0)}, -1, at::kLong)});
    const at::Tensor all = group.AllGather(padded).contiguous();
    const auto* from = all.data_ptr<int64_t>();
    std::vector<int64_t> rows(from, from + all.numel());
    std::erase(rows, -1);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    at::Tensor result = at::empty({std::ssize(rows)}, at::kLong);
    std::copy(rows.begin(), rows.end(), result.data_ptr<int64_t>());
    return result;
  }

  void AddUpTable(const model::NamedParameter& table) {
    const at::Tensor& gradient = table.value.grad();
    const int64_t width = table.value.size(1);
    const at::TensorOptions floats = FloatsBeside(table);
    tensor::RowGradient own{at::empty({0}, floats.dtype(at::kLong)), at::empty({0, width}, floats)};
    if (gradient.defined()) own = tensor::RowsOf(gradient);
    const at::Tensor rows = AllRows(own.rows.cpu()).to(floats.device());
    if (rows.size(0) == 0) {
      table.value.mutable_grad() = at::Tensor();
      return;
    }
    at::Tensor values = at::zeros({rows.size(0), width}, floats);
    values.index_copy_(0, at::searchsorted(rows, own.rows), own.values);
    if (options.type == ReduceType::kFp32) {
      group.AddUp(values)->Wait();
      bytes += 2 * values.numel() * 4 * (group.ranks() - 1) / group.ranks();
    } else {
      values = AddUpRounded(values);
    }
    table.value.mutable_grad() = at::Tensor();
    tensor::AddRowGradient(table.value, {rows, values});
  }

  // Collectives have no bf16 in all versions of libtorch. These only move bits: [ranks, n / ranks].
  at::Tensor Rounded(const at::Tensor& numbers) {
    bytes += 2 * numbers.numel() * 2 * (group.ranks() - 1) / group.ranks();
    return numbers.to(at::kBFloat16).view(at::kHalf).view({group.ranks(), -1});
  }

  // The sums [n], bf16, from what all processes have sent of this one's share, [ranks, n / ranks].
  at::Tensor SumOf(const at::Tensor& parts) {
    at::Tensor sum = parts[0].view(at::kBFloat16).to(at::kFloat);
    for (int64_t rank = 1; rank < group.ranks(); ++rank) {
      sum.add_(parts[rank].view(at::kBFloat16));
    }
    return group.AllGather(sum.to(at::kBFloat16).view(at::kHalf)).view(at::kBFloat16).reshape({-1});
  }

  // The sum over all processes of `values`, which are rounded on their way.
  at::Tensor AddUpRounded(const at::Tensor& values) {
    at::Tensor flat = at::zeros({Padded(values.numel(), group.ranks())}, values.options());
    flat.narrow(0, 0, values.numel()).copy_(values.reshape({-1}));
    const at::Tensor sums = SumOf(group.AllToAll(Rounded(flat)));
    return sums.narrow(0, 0, values.numel()).to(at::kFloat).view(values.sizes());
  }

  ProcessGroup& group;
  ReducerOptions options;
  std::vector<model::NamedParameter> parameters;  // dense ones, once the tables are known
  std::vector<model::NamedParameter> tables;
  bool knows_tables = false;
  std::map<std::string, size_t> number_of;  // of parameters, by name
  std::vector<Accumulator> accumulators;    // kept, so that their hooks are
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
  for (const model::NamedParameter& table : state.tables) state.AddUpTable(table);
}

int64_t GradientReducer::TakeBytes() { return std::exchange(state_->bytes, 0); }

}  // namespace tandem::dist
