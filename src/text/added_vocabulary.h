// Tokens that are added to a model, one after another. Only source files of this room include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/models/subword_model.h"
#include "text/models/vocabulary.h"

namespace tandem::text {

// Adds tokens as the package's AddedVocabulary does: a token that the model has keeps its id,
// another one gets the next that is free, and one that is added again is looked for as it was said
// last.
class AddedVocabulary {
 public:
  // `vocabulary` has the model's tokens, and gets those that it has not.
  AddedVocabulary(const SubwordModel& model, Vocabulary* vocabulary);

  // The id that a token has or, as the next one that is added, would get.
  int32_t IdOf(const std::string& content) const;
  // The id of a token of the model or of an added one, or -1.
  int32_t Find(const std::string& content) const;
  // Adds tokens in order; their ids are not read. Returns those that changed anything, with their
  // ids.
  std::vector<AddedToken> Add(std::span<const AddedToken> tokens);

  // Returns the tokens that are searched for in texts, with their ids: special tokens first.
  std::vector<AddedToken> Patterns() const;

 private:
  const SubwordModel& model_;
  Vocabulary* vocabulary_;
  int64_t next_;
  std::map<std::string, int32_t> ids_;
  std::map<int32_t, AddedToken> by_id_;      // as they were said last
  std::vector<std::string> special_, rest_;  // in the order in which they were first added
  std::set<std::string> special_names_;
};

}  // namespace tandem::text
