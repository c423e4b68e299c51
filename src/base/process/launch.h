// Says which of several processes this one is, as the launcher that started it says.
//
// torchrun, srun, mpirun and Kubernetes tell a process its rank in environment variables. This file
// reads them and asks nobody: it opens no connection (dist/process_group.h does).
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tandem {

struct Launch {
  int rank = 0;         // of this process among all, from 0
  int ranks = 1;        // of the job; 1: it is alone
  int local_rank = 0;   // among those of this machine
  int local_ranks = 1;  // on this machine
  // Rank 0 listens at this name or address and on this port; "" and 0 for a job of one process.
  std::string address;
  int port = 0;
  // "torchrun", "srun", "mpirun", "Kubernetes", "environment" (set by hand); "": none
  std::string launcher;
  std::string job;  // tells one job from another on the same port
  // Says how often launchers have started this process again. torchrun counts for each machine.
  int restarts = 0;

  bool alone() const { return ranks == 1; }
};

// Returns the value of an environment variable; none where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// Reads what the environment says, by the first of these launchers that it has:
//
//   torchrun     RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE; also set by hand
//   Kubernetes   JOB_COMPLETION_INDEX (an indexed Job) with WORLD_SIZE
//   mpirun       OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE (Open MPI)
//   srun         SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE
//
// Rank 0's address is MASTER_ADDR and MASTER_PORT (29500). Without MASTER_ADDR it is for srun the
// first machine of the step, with a port that follows from the job's number, and for an mpirun of
// one machine that machine. Under torchrun, whose agent has its own store at MASTER_PORT
// (TORCHELASTIC_USE_AGENT_STORE), the port is the next one. Restarts are
// TORCHELASTIC_RESTART_COUNT and SLURM_RESTART_COUNT, whatever started the process. Throws
// UsageError for a variable that is missing, no number or does not fit the others, naming it.
Launch ReadLaunch(const Environment& environment);

// Reads no address and port of rank 0, for processes that never talk to each other.
Launch ReadPlace(const Environment& environment);

// ReadLaunch and ReadPlace of this process's environment.
Launch CurrentLaunch();
Launch CurrentPlace();

// The first name of a Slurm list of machines: "node07" of "node[07-09,12],login1".
std::string FirstSlurmNode(const std::string& list);

// Says how many tasks a Slurm list such as "2(x3),1" gives the machine with this index; 0 where the
// list does not reach it or cannot be read.
int SlurmTasksOn(const std::string& list, int node);

}  // namespace tandem
