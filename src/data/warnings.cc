#include "data/warnings.h"

#include <fmt/format.h>

#include "base/log.h"

namespace tandem::data {

void Warnings::Count(std::string_view file, std::string_view kind, int64_t line,
                     std::string_view id, uint64_t count) {
  if (count == 0) return;
  for (Entry& entry : entries_) {  // few kinds: a linear search is fast
    if (entry.kind == kind && entry.file == file) {
      entry.count += count;
      return;
    }
  }
  entries_.push_back({std::string(file), std::string(kind), line, std::string(id), count});
}

void Warnings::Add(const Warnings& others) {
  for (const Entry& entry : others.entries_) {
    Count(entry.file, entry.kind, entry.first_line, entry.first_id, entry.count);
  }
}

uint64_t Warnings::count(std::string_view kind) const {
  uint64_t sum = 0;
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) sum += entry.count;
  }
  return sum;
}

std::vector<std::string> Warnings::Messages() const {
  std::vector<std::string> messages;
  for (const Entry& entry : entries_) {
    std::string place;
    if (entry.first_line > 0) place = fmt::format("line {}", entry.first_line);
    if (!entry.first_id.empty()) {
      place += fmt::format("{}id {}", place.empty() ? "" : ", ", entry.first_id);
    }
    messages.push_back(fmt::format("{}{}{}: {}{}", entry.file, entry.file.empty() ? "" : ": ",
                                   entry.kind, entry.count,
                                   place.empty() ? "" : fmt::format(" (first at {})", place)));
  }
  return messages;
}

void Warnings::Report() {
  for (const std::string& message : Messages()) Warn(message);
  entries_.clear();
}

}  // namespace tandem::data
