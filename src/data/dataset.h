// Documents, queries and judgements in memory, whatever file format they came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tandem::data {

// Ids and texts in file order. A document's text is title + " " + text where there is a title.
class Texts {
 public:
  size_t size() const { return ids_.size(); }
  std::string_view id(size_t index) const { return ids_[index]; }
  std::string_view text(size_t index) const { return texts_[index]; }
  std::optional<uint32_t> Find(std::string_view id) const;

  // False, and nothing is added, when the id is there already.
  bool Add(std::string id, std::string text);

 private:
  std::vector<std::string> ids_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string_view, uint32_t> index_;  // views into ids_
};

struct Judgement {
  uint32_t document = 0;
  double grade = 0;
};

// What is judged for each query of a split; queries without judgement are absent.
struct JudgedQuery {
  uint32_t query = 0;
  std::vector<Judgement> judgements;  // in file order, each document once
};

struct Dataset {
  Texts documents;
  Texts queries;
  std::vector<JudgedQuery> judged;  // of the split that was read, in file order of first mention
};

}  // namespace tandem::data
