#include "data/texts/unique_ids.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/text_hash.h"

namespace tandem::data {
namespace {

using Record = UniqueIds::Record;

constexpr size_t kMergeRecords = size_t{1} << 19;  // of all runs together in memory
constexpr size_t kLeastMergeRecords = 64;          // of a run

// A file that has no name in `folder`, or loses it at once where the file system wants one.
int MakeNamelessFile(const std::filesystem::path& folder) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = folder / fmt::format(".ids{}.XXXXXX", ::getpid());
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    throw OutputError(folder.native(), "cannot hold a file of the ids that were read", errno);
  }
  ::unlink(name.c_str());
  return descriptor;
}

// The records of one sorted part of the file, some at a time.
class SortedRun {
 public:
  SortedRun(int descriptor, size_t first, size_t count, size_t buffered)
      : descriptor_(descriptor), next_(first), end_(first + count), buffer_(buffered) {}

  // False at the end.
  bool Next(Record* record) {
    if (at_ == filled_ && !Fill()) return false;
    *record = buffer_[at_++];
    return true;
  }

 private:
  bool Fill() {
    at_ = 0;
    filled_ = std::min(buffer_.size(), end_ - next_);
    auto* to = reinterpret_cast<char*>(buffer_.data());
    size_t left = filled_ * sizeof(Record);
    auto offset = static_cast<off_t>(next_ * sizeof(Record));
    while (left > 0) {
      const ssize_t count = ::pread(descriptor_, to, left, offset);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        throw OutputError("a file of the ids that were read", "cannot be read again",
                          count < 0 ? errno : EIO);
      }
      to += count;
      offset += count;
      left -= static_cast<size_t>(count);
    }
    next_ += filled_;
    return filled_ > 0;
  }

  int descriptor_;
  size_t next_;  // record of the file
  size_t end_;
  std::vector<Record> buffer_;
  size_t at_ = 0;
  size_t filled_ = 0;
};

// Looks at records in ascending order.
class RepeatedFinder {
 public:
  void See(const Record& record) {
    const bool same = any_ && record.hash == last_.hash && record.other_hash == last_.other_hash;
    if (same && (!found_ || record.place < found_->second)) {
      found_ = UniqueIds::Repeated{.first = last_.place, .second = record.place};
    }
    last_ = record;
    any_ = true;
  }
  std::optional<UniqueIds::Repeated> found() const { return found_; }

 private:
  Record last_;
  bool any_ = false;
  std::optional<UniqueIds::Repeated> found_;
};

}  // namespace

UniqueIds::UniqueIds(std::filesystem::path folder, size_t ids_in_memory)
    : folder_(std::move(folder)), ids_in_memory_(ids_in_memory) {}

UniqueIds::~UniqueIds() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<uint64_t> UniqueIds::Add(std::string_view id, uint64_t place) {
  // The second hash is that of a text whose words are others.
  joined_.assign("id ").append(id);
  const Record record{.hash = TextHash(id), .other_hash = TextHash(joined_), .place = place};
  const auto same = [&](uint32_t index) {
    return records_[index].hash == record.hash && records_[index].other_hash == record.other_hash;
  };
  const auto index = static_cast<uint32_t>(records_.size());
  if (const auto earlier = table_.FindOrInsert(record.hash, index, same)) {
    return records_[*earlier].place;
  }
  records_.push_back(record);
  if (records_.size() == ids_in_memory_) Spill();
  return std::nullopt;
}

void UniqueIds::Spill() {
  if (descriptor_ < 0) descriptor_ = MakeNamelessFile(folder_);
  std::sort(records_.begin(), records_.end());
  const std::string_view bytes(reinterpret_cast<const char*>(records_.data()),
                               records_.size() * sizeof(Record));
  if (!WriteAll(descriptor_, bytes)) {
    throw OutputError(folder_.native(), "cannot hold a file of the ids that were read", errno);
  }
  runs_.push_back(records_.size());
  records_.clear();
  table_.Reset(ids_in_memory_);
}

std::optional<UniqueIds::Repeated> UniqueIds::FindRepeated() {
  if (runs_.empty()) return std::nullopt;  // Add found all
  if (!records_.empty()) Spill();
  records_ = {};
  table_.Clear();
  const size_t buffered = std::max(kLeastMergeRecords, kMergeRecords / runs_.size());
  std::vector<SortedRun> runs;
  size_t first = 0;
  for (const size_t count : runs_) {
    runs.emplace_back(descriptor_, first, count, buffered);
    first += count;
  }
  using Front = std::pair<Record, size_t>;  // the first record of a run
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
  const auto push = [&](size_t run) {
    Record record;
    if (runs[run].Next(&record)) fronts.emplace(record, run);
  };
  for (size_t run = 0; run < runs.size(); ++run) push(run);
  RepeatedFinder finder;
  while (!fronts.empty()) {
    const auto [record, run] = fronts.top();
    fronts.pop();
    finder.See(record);
    push(run);
  }
  return finder.found();
}

}  // namespace tandem::data
