// Counts what reading data dropped or corrected, by kind, and reports each kind once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::data {

class Warnings {
 public:
  // Counts one more of `kind` in `file`, or `count` of them (0: nothing happens). `kind` is a
  // plural noun phrase that says what became of them: "documents with an empty text, kept". The
  // first line and id of a kind are remembered; line 0 and an empty id mean "not known".
  void Count(std::string_view file, std::string_view kind, int64_t line, std::string_view id = {},
             uint64_t count = 1);

  // Adds the counts of `others`, after what is here.
  void Add(const Warnings& others);

  bool empty() const { return entries_.empty(); }
  uint64_t count(std::string_view kind) const;  // over all files

  // `FILE: KIND: N (first at line L, id ID)`, in order of first occurrence.
  std::vector<std::string> Messages() const;
  // Gives each message to Warn (base/log.h); forgets them.
  void Report();

 private:
  struct Entry {
    std::string file;
    std::string kind;
    int64_t first_line = 0;
    std::string first_id;
    uint64_t count = 0;
  };
  std::vector<Entry> entries_;
};

// The readers of this room take an optional `Warnings* warnings`. They count into it, or, where it
// is null, into a Warnings of their own that is reported when they are done.
class WarningScope {
 public:
  explicit WarningScope(Warnings* given) : given_(given) {}
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;
  ~WarningScope() { own_.Report(); }

  Warnings& get() { return given_ != nullptr ? *given_ : own_; }

 private:
  Warnings* given_;
  Warnings own_;
};

}  // namespace tandem::data
