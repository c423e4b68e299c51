#include "text/added_vocabulary.h"

#include <algorithm>

namespace tandem::text {
namespace {

bool Same(const AddedToken& a, const AddedToken& b) {
  return a.content == b.content && a.single_word == b.single_word && a.lstrip == b.lstrip &&
         a.rstrip == b.rstrip && a.normalized == b.normalized && a.special == b.special;
}

}  // namespace

AddedVocabulary::AddedVocabulary(const SubwordModel& model, Vocabulary* vocabulary)
    : model_(model), vocabulary_(vocabulary), next_(static_cast<int64_t>(vocabulary->count())) {}

int32_t AddedVocabulary::Find(const std::string& content) const {
  const auto added = ids_.find(content);
  return added == ids_.end() ? model_.Find(content) : added->second;
}

int32_t AddedVocabulary::IdOf(const std::string& content) const {
  const int32_t id = Find(content);
  return id >= 0 ? id : static_cast<int32_t>(next_);
}

std::vector<AddedToken> AddedVocabulary::Add(std::span<const AddedToken> tokens) {
  for (const AddedToken& token : tokens) {
    if (!token.special || token.content.empty()) continue;
    if (special_names_.insert(token.content).second) special_.push_back(token.content);
  }
  std::vector<AddedToken> changed;
  for (AddedToken token : tokens) {
    if (token.content.empty()) continue;
    const auto known = ids_.find(token.content);
    if (known != ids_.end() && Same(by_id_.at(known->second), token)) continue;
    token.id = IdOf(token.content);
    if (Find(token.content) < 0) vocabulary_->Add(token.content, token.id);
    next_ = std::max(next_, int64_t{token.id} + 1);
    ids_[token.content] = token.id;
    by_id_[token.id] = token;
    if (!special_names_.contains(token.content)) rest_.push_back(token.content);
    changed.push_back(std::move(token));
  }
  return changed;
}

std::vector<AddedToken> AddedVocabulary::Patterns() const {
  std::vector<AddedToken> patterns;
  std::set<int32_t> listed;
  for (const std::vector<std::string>* names : {&special_, &rest_}) {
    for (const std::string& name : *names) {
      AddedToken pattern = by_id_.at(ids_.at(name));
      if (!listed.insert(pattern.id).second) continue;
      pattern.special = special_names_.contains(name);
      patterns.push_back(std::move(pattern));
    }
  }
  return patterns;
}

}  // namespace tandem::text
