#include "train/checks/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/log.h"
#include "train/checks/out_of_memory.h"

namespace tandem::train {
namespace {

constexpr std::string_view kAllTheSame = "--ignore-limits begins all the same";

// The number of bytes that the process will need, in the measure that a bound limits.
uint64_t NeededOf(const LeastMemory& least, MemoryKind kind) {
  // The optimizer's state is mapped when it is made, and takes memory only when it is written to.
  switch (kind) {
    case MemoryKind::kHeld:
      return least.total();
    case MemoryKind::kAddresses:
      return least.before.addresses + least.step();
    case MemoryKind::kData:
      return least.before.data + least.step();
  }
  return least.total();
}

uint64_t Excess(const LeastMemory& least, const MemoryBound& bound) {
  const uint64_t needed = NeededOf(least, bound.kind), allowed = bound.bytes + bound.swap;
  return needed > allowed ? needed - allowed : 0;
}

std::string NeedText(const LeastMemory& least, MemoryKind kind) {
  const std::string step =
      fmt::format("a step of {} queries with {} tokens{} takes {}", least.queries, least.tokens,
                  least.chunk_tokens > 0 ? fmt::format(" in chunks of {}", least.chunk_tokens) : "",
                  FormatByteSize(least.step()));
  const std::string needed = FormatByteSize(NeededOf(least, kind));
  if (kind != MemoryKind::kHeld) {
    return fmt::format(
        "this run needs {} of addresses or more (program, model, data and what the "
        "optimizer keeps have {}, and {})",
        needed,
        FormatByteSize(kind == MemoryKind::kAddresses ? least.before.addresses : least.before.data),
        step);
  }
  return fmt::format(
      "this run needs {} of memory or more (model, data and token ids hold {}, what the optimizer "
      "keeps takes {}, and {})",
      needed, FormatByteSize(least.before.held), FormatByteSize(least.optimizer), step);
}

// The number of tokens of a batch or chunk for which a bound leaves room beside all gradients. A
// share of the bound is set aside for memory that the estimate leaves out (least_memory.h).
int64_t FittingTokens(const LeastMemory& least, const MemoryBound& bound) {
  constexpr double kUsable = 0.85;
  const double others = static_cast<double>(NeededOf(least, bound.kind) - least.step()) +
                        static_cast<double>(least.gradients + least.scores);
  const double left = kUsable * static_cast<double>(bound.bytes + bound.swap) - others;
  return left > 0 && least.per_token > 0 ? static_cast<int64_t>(left / least.per_token) : 0;
}

std::string ProblemText(const LeastMemory& least, const MemoryBound& bound) {
  const BatchSize batch{
      .queries = least.queries, .tokens = least.tokens, .chunk_tokens = least.chunk_tokens};
  const int64_t tokens =
      least.chunk_tokens > 0 ? std::min(least.chunk_tokens, least.tokens) : least.tokens;
  return fmt::format(
      "{}, and {} allows {}; {}; {}", NeedText(least, bound.kind), bound.what,
      FormatByteSize(bound.bytes + bound.swap),
      BatchAdvice(batch, tokens, std::min(FittingTokens(least, bound), tokens - 1), "more memory"),
      kAllTheSame);
}

void WarnOfLittle(const LeastMemory& least, const MemoryLimits& limits) {
  for (const MemoryBound& bound : limits.bounds) {
    if (bound.hard || Excess(least, bound) == 0) continue;
    return Warn(fmt::format("{}; above {} ({}) the system slows this process down",
                            NeedText(least, bound.kind), bound.what, FormatByteSize(bound.bytes)));
  }
  const uint64_t further = least.optimizer + least.step();
  if (limits.available == 0 || further <= limits.available) return;
  Warn(fmt::format("{}, and the machine has {} free now: other processes hold the rest",
                   NeedText(least, MemoryKind::kHeld), FormatByteSize(limits.available)));
}

uint64_t BytesIn(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    const uint64_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

std::string CheckpointsText(const DiskNeed& need) {
  const std::string size = FormatByteSize(need.checkpoint);
  return need.checkpoints_at_once == 1
             ? fmt::format("a checkpoint of {}", size)
             : fmt::format("{} checkpoints of {} at once", need.checkpoints_at_once, size);
}

}  // namespace

void CheckMemory(const LeastMemory& least, const MemoryLimits& limits, Shortage shortage) {
  const MemoryBound* worst = nullptr;
  for (const MemoryBound& bound : limits.bounds) {
    if (!bound.hard || Excess(least, bound) == 0) continue;
    if (worst == nullptr || Excess(least, bound) > Excess(least, *worst)) worst = &bound;
  }
  if (worst == nullptr) return WarnOfLittle(least, limits);
  const std::string problem = ProblemText(least, *worst);
  if (shortage == Shortage::kRefuse) throw UsageError(problem);
  Warn(problem);
}

std::optional<DiskRoom> RoomOf(const RunFolder& folder) {
  std::error_code error;
  std::filesystem::path nearest = std::filesystem::absolute(folder.path(), error);
  while (!std::filesystem::exists(nearest, error) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  const std::filesystem::space_info space = std::filesystem::space(nearest, error);
  if (error || space.available == std::numeric_limits<uintmax_t>::max()) return std::nullopt;
  return DiskRoom{.present = BytesIn(folder.path() / "checkpoints") + BytesIn(folder.model()),
                  .free = space.available};
}

void CheckDisk(const DiskNeed& need, const DiskRoom& room, const std::filesystem::path& folder,
               Shortage shortage) {
  const uint64_t missing = need.least > room.present ? need.least - room.present : 0;
  if (missing <= room.free) return;
  const uint64_t fewer = (need.checkpoints_at_once - 1) * need.checkpoint;
  const std::string keep = need.checkpoints_at_once > 2
                               ? fmt::format("train.keep_checkpoints = 1 ({} at least), ",
                                             FormatByteSize(need.least - fewer + need.checkpoint))
                               : "";
  const std::string text = fmt::format(
      "has no room for this run, which writes {} or more there ({}{}, and a model of {}), while {} "
      "are free; free some, or give {}a run folder elsewhere "
      "(--output); {}",
      FormatByteSize(missing), CheckpointsText(need),
      need.best_kept ? fmt::format(", best weights of {}", FormatByteSize(need.best)) : "",
      FormatByteSize(need.model), FormatByteSize(room.free), keep, kAllTheSame);
  if (shortage == Shortage::kRefuse) throw OutputError(folder.native(), text, ENOSPC);
  Warn(fmt::format("{}: {}", folder.native(), text));
}

}  // namespace tandem::train
