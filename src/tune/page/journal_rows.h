// The rows of a search's journal, as its page reads them.
#pragma once

#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace tandem::tune {

// The journal's rows, found by event.
class Rows {
 public:
  explicit Rows(const std::vector<Json>& journal) : journal_(journal) {}

  std::vector<const Json*> All(std::string_view event) const {
    std::vector<const Json*> all;
    for (const Json& row : journal_) {
      if (row.at("event").text() == event) all.push_back(&row);
    }
    return all;
  }
  const Json* Find(std::string_view event) const {
    const std::vector<const Json*> all = All(event);
    return all.empty() ? nullptr : all.front();
  }

 private:
  const std::vector<Json>& journal_;
};

inline double NumberOf(const Json& row, std::string_view key) { return row.at(key).get<double>(); }

// The arm of a row "choice" that is the choice; null: none is.
inline const Json* ChosenOf(const Json& choice) {
  const Json* const chosen = choice.Find("chosen");
  return chosen == nullptr ? nullptr : &choice.at("arms").at(chosen->get<size_t>());
}

}  // namespace tandem::tune
