// What the name of a column says.
#include "data/lines/column_names.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "data/lines/key_roles.h"
#include "import/columns/column_choice.h"

namespace tandem::import_data {
namespace {

struct Names {
  std::string_view role;
  std::span<const std::string_view> names;
};

// Names as exports of help desks, shops, search logs and chats have them; in lower case, with "_"
// between words.
constexpr std::array<std::string_view, 16> kQueries = {
    "queries",      "questions",  "q",          "search",        "search_query", "search_term",
    "search_terms", "user_query", "query_text", "question_text", "prompt",       "keyword",
    "keywords",     "input",      "frage",      "suchanfrage"};
constexpr std::array<std::string_view, 29> kDocuments = {
    "doc",      "docs",          "documents",    "text",         "texts",      "passage",
    "passages", "content",       "contents",     "body",         "response",   "reply",
    "answers",  "answer_text",   "context",      "contexts",     "chunk",      "paragraph",
    "abstract", "result",        "page",         "output",       "completion", "antwort",
    "doc_text", "document_text", "passage_text", "product_text", "description"};
constexpr std::array<std::string_view, 17> kLabels = {
    "relevance", "relevant",  "is_relevant", "grade",    "rating",    "thumb",
    "thumbs",    "thumbs_up", "vote",        "feedback", "judgement", "judgment",
    "verdict",   "helpful",   "is_helpful",  "useful",   "is_useful"};
constexpr std::array<std::string_view, 7> kTitles = {
    "title", "heading", "headline", "page_title", "doc_title", "document_title", "product_title"};
constexpr std::array<std::string_view, 11> kIds = {
    "id",         "_id", "doc_id",    "docid",      "document_id", "corpus_id",
    "passage_id", "pid", "answer_id", "product_id", "page_id"};
constexpr std::array<std::string_view, 3> kQueryIds = {"query_id", "qid", "question_id"};
constexpr std::array<std::string_view, 8> kClicks = {"clicks",       "click",       "clicked",
                                                     "click_count",  "num_clicks",  "n_clicks",
                                                     "total_clicks", "clicks_total"};
constexpr std::array<std::string_view, 10> kImpressions = {
    "impressions",  "impression", "shown",
    "shows",        "views",      "num_impressions",
    "displayed",    "exposures",  "impression_count",
    "n_impressions"};
constexpr std::array<std::string_view, 6> kPositions = {
    "position", "rank", "avg_position", "average_position", "display_position", "mean_position"};
constexpr std::array kAll = {Names{"query", kQueries},
                             Names{"document", kDocuments},
                             Names{"label", kLabels},
                             Names{"title", kTitles},
                             Names{"id", kIds},
                             Names{"query_id", kQueryIds},
                             Names{"clicks", kClicks},
                             Names{"impressions", kImpressions},
                             Names{"position", kPositions}};

// "Search Term " as "search_term", "queryId" as "query_id".
std::string Normal(std::string_view name) {
  std::string normal;
  bool was_lower = false;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_blank = c == ' ' || c == '-' || c == '.' || c == '\t' || c == '_';
    if ((is_blank || (is_upper && was_lower)) && !normal.empty() && normal.back() != '_') {
      normal += '_';
    }
    if (!is_blank) normal += is_upper ? static_cast<char>(c + 32) : c;
    was_lower = c >= 'a' && c <= 'z';
  }
  if (name.starts_with('_')) normal.insert(0, "_");
  while (normal.size() > 1 && normal.back() == '_') normal.pop_back();
  return normal;
}

}  // namespace

std::string_view RoleOfName(std::string_view name, bool* exact) {
  const std::string normal = Normal(name);
  if (exact != nullptr) *exact = true;
  if (data::IsOneOf(normal, data::kQueryNames)) return "query";
  if (data::IsOneOf(normal, data::kPositiveNames)) return "document";
  if (data::IsNegativeName(normal)) return "negative";
  if (data::IsOneOf(normal, data::kScoreNames)) return "label";
  if (exact != nullptr) *exact = false;
  for (const Names& one : kAll) {
    if (data::IsOneOf(normal, one.names)) return one.role;
  }
  const std::optional<data::KeyLook> look = data::LookOfKey(name, true);
  if (!look || look->describes) return "";
  switch (look->role) {
    case data::KeyRole::kQuery:
      return "query";
    case data::KeyRole::kPositive:
      return "document";
    case data::KeyRole::kNegative:
      return "negative";
    case data::KeyRole::kScore:
      break;
    case data::KeyRole::kFeedback:  // of another name than those above: too little is known
    case data::KeyRole::kClicks:
      return "";
  }
  return "label";
}

}  // namespace tandem::import_data
