#include "base/process/memory_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace tandem {
namespace {

namespace fs = std::filesystem;

// Version 1 has a number near 2^63 where there is no limit.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

// Reads a number that is a file's first word. Returns none for "max", for a number that means no
// limit, and for a file that is not there.
std::optional<uint64_t> NumberIn(const fs::path& file) {
  std::ifstream stream(file);
  uint64_t number = 0;
  if (!(stream >> number) || number >= kNoLimit) return std::nullopt;
  return number;
}

// Reads the bytes after "KEY:" in a file of lines "KEY:   12 kB"; 0 where there is none.
uint64_t BytesOf(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream rest(line.substr(key.size()));
    uint64_t kibibytes = 0;
    return rest >> kibibytes ? kibibytes * 1024 : 0;
  }
  return 0;
}

// "\040" of /proc/self/mountinfo is a space.
std::string WithoutOctal(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const bool escaped = text[i] == '\\' && i + 3 < text.size() &&
                         std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4];
    plain += escaped ? static_cast<char>(code) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

// A tree of cgroups that counts memory, and this process's place in it.
struct CgroupTree {
  bool second_version = false;
  fs::path mounted;  // where the tree is, or the part of it that this process sees
  std::string top;   // the cgroup that is mounted there
  std::string path;  // of this process's cgroup, as /proc/self/cgroup says
};

bool HasWord(const std::string& list, std::string_view word) {
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) {
    if (part == word) return true;
  }
  return false;
}

// Lines "4:memory:/jobs/7" (version 1) and "0::/jobs/7" (version 2).
std::optional<std::string> CgroupPath(const fs::path& root, bool second_version) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool ours = second_version ? controllers.empty() : HasWord(controllers, "memory");
    if (ours) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Lines "36 35 0:30 ROOT POINT options [...] - TYPE SOURCE super-options".
std::vector<CgroupTree> TreesOf(const fs::path& root) {
  std::vector<CgroupTree> trees;
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    const size_t middle = line.find(" - ");
    if (middle == std::string::npos) continue;
    std::istringstream before(line.substr(0, middle)), behind(line.substr(middle + 3));
    std::string number, parent, device, top, point, type, source, options;
    before >> number >> parent >> device >> top >> point;
    behind >> type >> source >> options;
    const bool second_version = type == "cgroup2";
    if (!second_version && (type != "cgroup" || !HasWord(options, "memory"))) continue;
    const std::optional<std::string> path = CgroupPath(root, second_version);
    if (!path) continue;
    trees.push_back({.second_version = second_version,
                     .mounted = root / fs::path(WithoutOctal(point)).relative_path(),
                     .top = WithoutOctal(top),
                     .path = *path});
  }
  return trees;
}

// The limits of one cgroup. `own`: it is this process's, not one above.
void AddCgroup(const CgroupTree& tree, const fs::path& folder, const std::string& name, bool own,
               uint64_t machine_swap, std::vector<MemoryBound>& bounds) {
  const auto text = [&name](std::string_view file) {
    return fmt::format("{} of cgroup {}", file, name.empty() ? "/" : name);
  };
  if (tree.second_version) {
    const auto swap = NumberIn(folder / "memory.swap.max").value_or(machine_swap);
    if (const auto bytes = NumberIn(folder / "memory.max")) {
      bounds.push_back(
          {.bytes = *bytes, .swap = std::min(swap, machine_swap), .what = text("memory.max")});
    }
    if (const auto bytes = NumberIn(folder / "memory.high")) {
      bounds.push_back({.bytes = *bytes, .hard = false, .what = text("memory.high")});
    }
    return;
  }
  // A cgroup above counts what is below it only where it says so.
  if (!own && NumberIn(folder / "memory.use_hierarchy").value_or(1) == 0) return;
  const auto bytes = NumberIn(folder / "memory.limit_in_bytes");
  if (!bytes) return;
  const auto both = NumberIn(folder / "memory.memsw.limit_in_bytes");  // memory and swap
  const uint64_t swap = both ? std::max(*both, *bytes) - *bytes : machine_swap;
  bounds.push_back({.bytes = *bytes,
                    .swap = std::min(swap, machine_swap),
                    .what = text("memory.limit_in_bytes")});
}

// Adds the bounds of the process's cgroup and of all above it, up to the one that is mounted.
void AddTree(const CgroupTree& tree, uint64_t machine_swap, std::vector<MemoryBound>& bounds) {
  // This process cannot see the groups above `top`. A container may see its own cgroup at the mount
  // and yet be told the path that the machine has for it.
  const std::string top = tree.top == "/" ? "" : tree.top;
  std::string below = tree.path.starts_with(top) ? tree.path.substr(top.size()) : "";
  std::error_code ignored;
  if (below == "/" || !fs::is_directory(tree.mounted / fs::path(below).relative_path(), ignored)) {
    below.clear();
  }
  for (bool own = true;; own = false) {
    AddCgroup(tree, tree.mounted / fs::path(below).relative_path(), top + below, own, machine_swap,
              bounds);
    if (below.empty()) return;
    below.erase(std::min(below.rfind('/'), below.size()));
  }
}

// Lines "Max address space   SOFT   HARD   bytes".
void AddOwnLimits(const fs::path& root, std::vector<MemoryBound>& bounds) {
  std::ifstream stream(root / "proc/self/limits");
  const auto add = [&bounds](const std::string& line, std::string_view key, MemoryKind kind,
                             const char* what) {
    if (!line.starts_with(key)) return;
    std::istringstream rest(line.substr(key.size()));
    uint64_t bytes = 0;
    if (rest >> bytes) bounds.push_back({.kind = kind, .bytes = bytes, .what = what});
  };
  for (std::string line; std::getline(stream, line);) {
    add(line, "Max address space", MemoryKind::kAddresses, "ulimit -v");
    add(line, "Max data size", MemoryKind::kData, "ulimit -d");
  }
}

}  // namespace

MemoryLimits ReadMemoryLimits(const fs::path& root) {
  const fs::path memory = root / "proc/meminfo";
  const uint64_t total = BytesOf(memory, "MemTotal:"), swap = BytesOf(memory, "SwapTotal:");
  MemoryLimits limits{.available = BytesOf(memory, "MemAvailable:")};
  for (const CgroupTree& tree : TreesOf(root)) AddTree(tree, swap, limits.bounds);
  AddOwnLimits(root, limits.bounds);
  if (total > 0) {
    limits.bounds.push_back({.bytes = total, .swap = swap, .what = "this machine's memory"});
  }
  return limits;
}

HeldMemory ReadHeldMemory(const fs::path& root) {
  const fs::path status = root / "proc/self/status";
  return {.held = BytesOf(status, "RssAnon:") + BytesOf(status, "RssShmem:"),
          .addresses = BytesOf(status, "VmSize:"),
          .data = BytesOf(status, "VmData:")};
}

}  // namespace tandem
