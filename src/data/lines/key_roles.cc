#include "data/lines/key_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"

namespace tandem::data {
namespace {

// Lines whose keys are all different must not fill the memory.
constexpr size_t kMostNames = 4096;

struct Word {
  std::string_view text;
  KeyRole role;
};

// Anywhere in a name; the first that fits counts, so that "neg_scores" is a score.
constexpr std::array kParts = {Word{"score", KeyRole::kScore},
                               Word{"scores", KeyRole::kScore},
                               Word{"label", KeyRole::kScore},
                               Word{"labels", KeyRole::kScore},
                               Word{"similarity", KeyRole::kScore},
                               Word{"similarities", KeyRole::kScore},
                               Word{"sim", KeyRole::kScore},
                               Word{"sims", KeyRole::kScore},
                               Word{"relevance", KeyRole::kScore},
                               Word{"relevant", KeyRole::kScore},
                               Word{"grade", KeyRole::kScore},
                               Word{"grades", KeyRole::kScore},
                               Word{"rating", KeyRole::kScore},
                               Word{"ratings", KeyRole::kScore},
                               Word{"margin", KeyRole::kScore},
                               Word{"margins", KeyRole::kScore},
                               Word{"logit", KeyRole::kScore},
                               Word{"logits", KeyRole::kScore},
                               Word{"probability", KeyRole::kScore},
                               Word{"probabilities", KeyRole::kScore},
                               Word{"judgement", KeyRole::kScore},
                               Word{"judgment", KeyRole::kScore},
                               Word{"duplicate", KeyRole::kScore},
                               Word{"negative", KeyRole::kNegative},
                               Word{"negatives", KeyRole::kNegative},
                               Word{"neg", KeyRole::kNegative},
                               Word{"negs", KeyRole::kNegative},
                               Word{"distractor", KeyRole::kNegative},
                               Word{"distractors", KeyRole::kNegative},
                               Word{"irrelevant", KeyRole::kNegative},
                               Word{"nonrelevant", KeyRole::kNegative},
                               Word{"positive", KeyRole::kPositive},
                               Word{"positives", KeyRole::kPositive},
                               Word{"pos", KeyRole::kPositive}};

// The whole name, but for digits and what separates words.
constexpr std::array kWholes = {
    Word{"query", KeyRole::kQuery},       Word{"queries", KeyRole::kQuery},
    Word{"anchor", KeyRole::kQuery},      Word{"anchors", KeyRole::kQuery},
    Word{"question", KeyRole::kQuery},    Word{"questions", KeyRole::kQuery},
    Word{"premise", KeyRole::kQuery},     Word{"hypothesis", KeyRole::kPositive},
    Word{"answer", KeyRole::kPositive},   Word{"answers", KeyRole::kPositive},
    Word{"document", KeyRole::kPositive}, Word{"documents", KeyRole::kPositive},
    Word{"sentence", KeyRole::kPositive}};

// Anywhere in a name, and spelled right: these words have neighbours that mean something else
// ("thumb", "expression").
constexpr std::array<std::string_view, 19> kFeedback = {
    "feedback",    "thumbs",   "thumbsup",  "thumbsdown", "vote",      "votes",   "upvote",
    "upvotes",     "downvote", "downvotes", "upvoted",    "downvoted", "helpful", "unhelpful",
    "helpfulness", "verdict",  "likes",     "dislikes",   "useful"};
constexpr std::array<std::string_view, 4> kClicks = {"click", "clicks", "clicked", "impressions"};
// After "is": somebody chose the document.
constexpr std::array<std::string_view, 3> kChosen = {"accepted", "correct", "selected"};

// Last words of names that describe a text and are none.
constexpr std::array<std::string_view, 31> kDescriptions = {
    "id",    "ids",    "idx",   "index",   "indices",  "indexes", "docid",    "docids",
    "uid",   "uuid",   "hash",  "type",    "types",    "lang",    "language", "url",
    "urls",  "source", "title", "titles",  "date",     "length",  "len",      "rank",
    "ranks", "name",   "text",  "comment", "comments", "answer",  "review"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "hardNegatives_2" as "hard", "negatives".
std::vector<std::string> WordsOf(std::string_view key) {
  std::vector<std::string> words(1);
  bool was_lower = false;
  for (const char c : key) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_lower = c >= 'a' && c <= 'z';
    if ((!is_upper && !is_lower) || (is_upper && was_lower)) words.emplace_back();
    if (is_upper || is_lower) words.back() += Lower(c);
    was_lower = is_lower;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

bool AreSameLetters(std::string a, std::string b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Says whether `word` is `known` with at most one letter wrong; of more than nine, two. Words of
// five letters have neighbours that mean something else ("store", "scope"): no letter of theirs may
// be replaced. Shorter ones must be right.
bool IsLike(const std::string& word, std::string_view known) {
  const size_t distance = EditDistance(word, known);
  if (distance == 0) return true;
  if (known.size() < 5 || word.size() < 4) return false;
  if (known.size() == 5 && word.size() == 5 && !AreSameLetters(word, std::string(known))) {
    return false;
  }
  return distance <= (known.size() > 9 ? 2 : 1);
}

// Long words of kParts within a longer one: "hardnegatives", "bm25scores".
std::optional<KeyRole> RoleWithin(const std::string& word) {
  constexpr std::array kWithin = {
      Word{"score", KeyRole::kScore}, Word{"similarity", KeyRole::kScore},
      Word{"negative", KeyRole::kNegative}, Word{"positive", KeyRole::kPositive}};
  for (const Word& one : kWithin) {
    if (word.find(one.text) != std::string::npos) return one.role;
  }
  return std::nullopt;
}

template <size_t kCount>
bool HasOneOf(std::span<const std::string> words,
              const std::array<std::string_view, kCount>& known) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

// "user_feedback", "thumbs_up", "is_accepted".
bool SaysFeedback(std::span<const std::string> words) {
  return HasOneOf(words, kFeedback) ||
         (words.size() == 2 && words.front() == "is" && HasOneOf(words.subspan(1), kChosen));
}

template <size_t kCount>
std::optional<KeyRole> RoleOf(const std::string& word, const std::array<Word, kCount>& known) {
  for (const Word& one : known) {
    if (word == one.text) return one.role;
  }
  for (const Word& one : known) {
    if (IsLike(word, one.text)) return one.role;
  }
  return std::nullopt;
}

std::string_view Name(KeyRole role) {
  switch (role) {
    case KeyRole::kQuery:
      return "a query";
    case KeyRole::kPositive:
      return "a positive";
    case KeyRole::kNegative:
      return "negatives";
    case KeyRole::kScore:
      break;
    case KeyRole::kFeedback:
      return "feedback";
    case KeyRole::kClicks:
      return "clicks";
  }
  return "labels or scores";
}

std::string_view KeysOf(const FormatKeys& format, KeyRole role) {
  switch (role) {
    case KeyRole::kQuery:
      return format.query;
    case KeyRole::kPositive:
      return format.positive;
    case KeyRole::kNegative:
      return format.negative;
    case KeyRole::kScore:
    case KeyRole::kFeedback:
    case KeyRole::kClicks:
      break;
  }
  return format.score;
}

}  // namespace

std::optional<KeyLook> LookOfKey(std::string_view key, bool columns) {
  std::vector<std::string> words = WordsOf(key);
  if (words.empty()) return std::nullopt;
  const bool describes = words.size() > 1 && std::find(kDescriptions.begin(), kDescriptions.end(),
                                                       words.back()) != kDescriptions.end();
  std::optional<KeyRole> best;
  for (const std::string& word : words) {
    std::optional<KeyRole> role = RoleOf(word, kParts);
    if (!role) role = RoleWithin(word);
    if (role && (!best || *role > *best)) best = role;  // a score before a negative or positive
  }
  if (!best && SaysFeedback(words)) best = KeyRole::kFeedback;
  if (!best && HasOneOf(words, kClicks)) best = KeyRole::kClicks;
  if (!best && columns && words.size() == 1) best = RoleOf(words.front(), kWholes);
  if (!best) return std::nullopt;
  return KeyLook{*best, describes};
}

const std::optional<KeyLook>& UnreadKeys::LookOf(std::string_view key) {
  const auto known = looks_.find(key);
  if (known != looks_.end()) return known->second;
  if (looks_.size() >= kMostNames) looks_.clear();
  return looks_.emplace(std::string(key), LookOfKey(key, format_.columns)).first->second;
}

DataError UnreadKeys::LooksLike(std::string_view key, KeyRole role, std::string_view within) const {
  if (role == KeyRole::kFeedback || role == KeyRole::kClicks) {
    return reader_.Error(fmt::format(
        "\"{}\" looks like {}, and without it the document is a positive: `tandem "
        "import {} {}` makes grades of it; to pass over it, data.ignore_columns = "
        "[\"{}\"] in a recipe, --ignore-columns {} elsewhere",
        key, Name(role), role == KeyRole::kClicks ? "--clicks" : "--label", key, key, key));
  }
  return reader_.Error(fmt::format(
      "\"{}\"{} looks like {}, which this format has in {}: rename it, or pass over it by "
      "data.ignore_columns = [\"{}\"] in a recipe, --ignore-columns {} elsewhere",
      key, within.empty() ? "" : fmt::format(" of \"{}\"", within), Name(role),
      KeysOf(format_, role), key, key));
}

bool UnreadKeys::MayBePassedOver(const KeyLook& look, const Line& line) {
  switch (look.role) {
    case KeyRole::kQuery:
    case KeyRole::kPositive:
      return look.describes;
    case KeyRole::kNegative:
      return look.describes && line.negatives;
    case KeyRole::kScore:
      return look.describes && line.scores;
    case KeyRole::kFeedback:
      return look.describes || line.scores;
    case KeyRole::kClicks:
      break;
  }
  return look.describes || line.scores || line.negatives;
}

void UnreadKeys::Pass(const JsonField& field, const Line& line, std::string_view within) {
  const std::string_view key = field.key;
  const std::optional<KeyLook>& look = LookOf(key);
  if (IsGiven(&field) && look && !KeysOf(format_, look->role).empty() &&
      !MayBePassedOver(*look, line)) {
    throw LooksLike(key, look->role, within);
  }
  if (within.empty()) return sink_.CountIgnored(key);
  sink_.CountIgnored(fmt::format("{}.{}", within, key));
}

void UnreadKeys::LookFor(KeyRole role, std::span<const JsonField> fields) {
  for (const JsonField& field : fields) {
    const std::optional<KeyLook>& look = LookOf(field.key);
    if (IsGiven(&field) && look && look->role == role && !look->describes)
      throw LooksLike(field.key, role, {});
  }
}

}  // namespace tandem::data
