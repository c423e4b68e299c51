#include "base/process/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int kDefaultPort = 29500;  // torch.distributed's

template <typename Number = int>
std::optional<Number> AsNumber(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool Has(const char* name) const { return environment_(name).has_value(); }
  std::string Text(const char* name) const { return environment_(name).value_or(""); }
  // Throws where the variable is set and no whole number from 0.
  std::optional<int> Number(const char* name) const {
    const std::optional<std::string> text = environment_(name);
    if (!text) return std::nullopt;
    const std::optional<int> number = AsNumber(*text);
    if (!number) {
      throw UsageError(fmt::format(
          "the environment variable {} is \"{}\": expected a whole number from 0", name, *text));
    }
    return number;
  }
  // Throws where the variable is missing, which `because` calls for.
  int Needed(const char* name, std::string_view because) const {
    const std::optional<int> number = Number(name);
    if (number) return *number;
    throw UsageError(fmt::format(
        "the environment variable {} is missing, but {}: set it, or start the processes with "
        "torchrun, srun or mpirun",
        name, because));
  }

 private:
  const Environment& environment_;
};

void CheckRank(const char* name, int rank, const char* size_name, int size) {
  if (size < 1) {
    throw UsageError(
        fmt::format("the environment variable {} is {}: expected 1 or more", size_name, size));
  }
  if (rank < size) return;
  throw UsageError(
      fmt::format("the environment variable {} is {}, but {} is {}: ranks count from 0 to {}", name,
                  rank, size_name, size, size - 1));
}

// The place of a process by these variables, of which `size` is set.
Launch PlaceBy(const Variables& variables, const char* launcher, const char* rank,
               const char* size) {
  Launch launch{.launcher = launcher};
  launch.ranks = *variables.Number(size);
  launch.rank = variables.Needed(rank, fmt::format("{} is set", size));
  CheckRank(rank, launch.rank, size, launch.ranks);
  return launch;
}

// torchrun's variables, which people also set by hand. Local ranks may be missing then: the process
// counts as the only one of its machine.
Launch FromTorchrun(const Variables& variables) {
  const char* launcher = variables.Has("TORCHELASTIC_RUN_ID") ? "torchrun" : "environment";
  Launch launch = PlaceBy(variables, launcher, "RANK", "WORLD_SIZE");
  launch.local_rank = variables.Number("LOCAL_RANK").value_or(0);
  launch.local_ranks = variables.Number("LOCAL_WORLD_SIZE").value_or(launch.local_rank + 1);
  CheckRank("LOCAL_RANK", launch.local_rank, "LOCAL_WORLD_SIZE", launch.local_ranks);
  launch.job = variables.Text("TORCHELASTIC_RUN_ID");
  return launch;
}

Launch FromSlurm(const Variables& variables) {
  Launch launch = PlaceBy(variables, "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  launch.local_rank = variables.Number("SLURM_LOCALID").value_or(0);
  launch.local_ranks =
      std::max(launch.local_rank + 1, SlurmTasksOn(variables.Text("SLURM_STEP_TASKS_PER_NODE"),
                                                   variables.Number("SLURM_NODEID").value_or(0)));
  launch.job =
      fmt::format("{}.{}", variables.Text("SLURM_JOB_ID"), variables.Text("SLURM_STEP_ID"));
  launch.address = FirstSlurmNode(variables.Text("SLURM_STEP_NODELIST"));
  // Below the ports that systems give to outgoing connections. Steps that Slurm makes itself have
  // numbers just below 2^32.
  const auto number = [&variables](const char* name) {
    return AsNumber<uint64_t>(variables.Text(name)).value_or(0);
  };
  launch.port = 10000 + static_cast<int>(
                            (number("SLURM_JOB_ID") * 16 + number("SLURM_STEP_ID") % 16) % 20000);
  return launch;
}

Launch FromOpenMpi(const Variables& variables) {
  Launch launch = PlaceBy(variables, "mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  launch.local_rank = variables.Number("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0);
  launch.local_ranks =
      variables.Number("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(launch.local_rank + 1);
  launch.job = variables.Text("PMIX_NAMESPACE");
  if (launch.local_ranks == launch.ranks) launch.address = "127.0.0.1";
  return launch;
}

Launch Place(const Variables& variables) {
  const std::optional<int> size = variables.Number("WORLD_SIZE");
  if (size && !variables.Has("RANK")) {
    if (variables.Number("JOB_COMPLETION_INDEX")) {
      return PlaceBy(variables, "Kubernetes", "JOB_COMPLETION_INDEX", "WORLD_SIZE");
    }
    if (*size == 1) return {};
  }
  if (size) return FromTorchrun(variables);
  if (variables.Has("RANK")) variables.Needed("WORLD_SIZE", "RANK is set");
  // mpirun starts its processes inside of a Slurm step too, and torchrun inside of either.
  if (variables.Number("OMPI_COMM_WORLD_SIZE")) return FromOpenMpi(variables);
  if (variables.Number("SLURM_STEP_NUM_TASKS")) return FromSlurm(variables);
  return {};
}

// A launcher may be inside of another: torchrun in a job of Slurm, say.
int RestartsBy(const Variables& variables) {
  return variables.Number("TORCHELASTIC_RESTART_COUNT").value_or(0) +
         variables.Number("SLURM_RESTART_COUNT").value_or(0);
}

// Finds the address and the port at which rank 0 listens.
void FindLeader(const Variables& variables, Launch& launch) {
  if (const std::string address = variables.Text("MASTER_ADDR"); !address.empty()) {
    launch.address = address;
  }
  if (launch.address.empty()) {
    throw UsageError(fmt::format(
        "this is rank {} of {}, but the environment variable MASTER_ADDR is missing: set it to the "
        "name or address of rank 0's machine{}",
        launch.rank, launch.ranks,
        launch.launcher == "mpirun" ? " (mpirun -x MASTER_ADDR=...)" : ""));
  }
  if (const std::optional<int> port = variables.Number("MASTER_PORT")) launch.port = *port;
  if (launch.port == 0) launch.port = kDefaultPort;
  const std::string agent = variables.Text("TORCHELASTIC_USE_AGENT_STORE");
  if (agent == "True" || agent == "1") ++launch.port;
  if (launch.port < 1 || launch.port > 65535) {
    throw UsageError(fmt::format(
        "the environment variable MASTER_PORT makes port {}: expected 1 to 65535", launch.port));
  }
}

}  // namespace

std::string FirstSlurmNode(const std::string& list) {
  const std::string first = list.substr(0, list.find_first_of(",["));
  if (first.size() == list.size() || list[first.size()] == ',') return first;
  const size_t begin = first.size() + 1;
  return first + list.substr(begin, list.find_first_of(",-]", begin) - begin);
}

int SlurmTasksOn(const std::string& list, int node) {
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view part = std::string_view(list).substr(begin, end - begin);
    const size_t times = part.find("(x");
    const std::optional<int> tasks = AsNumber(part.substr(0, times));
    const std::optional<int> nodes =
        times == std::string_view::npos ? std::optional(1)
                                        : AsNumber(part.substr(times + 2, part.size() - times - 3));
    if (!tasks || !nodes) return 0;
    if (node < *nodes) return *tasks;
    node -= *nodes;
    begin = end + 1;
  }
  return 0;
}

Launch ReadPlace(const Environment& environment) {
  const Variables variables(environment);
  Launch launch = Place(variables);
  launch.restarts = RestartsBy(variables);
  launch.address.clear();
  launch.port = 0;
  return launch;
}

Launch ReadLaunch(const Environment& environment) {
  const Variables variables(environment);
  Launch launch = Place(variables);
  if (launch.alone()) return ReadPlace(environment);
  launch.restarts = RestartsBy(variables);
  FindLeader(variables, launch);
  return launch;
}

namespace {

std::optional<std::string> VariableOfProcess(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

Launch CurrentLaunch() { return ReadLaunch(VariableOfProcess); }
Launch CurrentPlace() { return ReadPlace(VariableOfProcess); }

}  // namespace tandem
