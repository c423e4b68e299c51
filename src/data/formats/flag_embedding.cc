#include "data/formats/flag_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "data/lines/dataset_builder.h"
#include "data/lines/json_line.h"
#include "data/lines/key_roles.h"
#include "data/lines/line_documents.h"
#include "data/lines/score_fields.h"
#include "data/texts/empty_text.h"

namespace tandem::data {
namespace {

// The keys of a line's positives, or of its negatives.
struct Side {
  std::string_view texts;
  std::string_view scores;
  std::string_view probabilities;
  double grade = 0;
};
constexpr Side kPositives = {"pos", "pos_scores", "pos_probabilities", 1};
constexpr Side kNegatives = {"neg", "neg_scores", "neg_probabilities", 0};

bool IsKnown(std::string_view key) {
  constexpr std::array kTextKeys = {std::string_view("query"), std::string_view("prompt")};
  if (std::find(kTextKeys.begin(), kTextKeys.end(), key) != kTextKeys.end()) return true;
  for (const Side& side : {kPositives, kNegatives}) {
    if (key == side.texts || key == side.scores || key == side.probabilities) return true;
  }
  return false;
}

constexpr FormatKeys kFlagEmbeddingKeys = {
    .query = "\"query\"",
    .positive = "\"pos\"",
    .negative = "\"neg\"",
    .score = "\"pos_scores\", \"neg_scores\", \"pos_probabilities\" and \"neg_probabilities\""};

class FlagEmbeddingReader {
 public:
  FlagEmbeddingReader(LineReader& reader, const LineRules& rules, ExampleSink& sink)
      : reader_(reader),
        sink_(sink),
        parser_(rules.ignored),
        scores_(reader, rules),
        unread_(reader, sink, kFlagEmbeddingKeys) {}

  void Read() {
    std::string_view line;
    while (reader_.Next(&line)) ReadLine(parser_.Parse(reader_, line));
    scores_.EndFile();
    sink_.SetQueryPrompt(prompt_.value_or(""));
  }

 private:
  void ReadLine(std::span<const JsonField> fields) {
    const std::string_view query = Query(fields);
    CheckPrompt(fields);
    documents_.clear();
    AddSide(fields, kPositives);
    if (documents_.empty()) throw reader_.Error("\"pos\" is an empty list");
    const size_t positives = documents_.size();
    AddSide(fields, kNegatives);
    PassOver(fields, documents_.size() > positives);
    DropMissing(sink_, reader_, nullptr, documents_);
    JudgeLine(sink_, reader_, query, 0, documents_);
    scores_.EndLine();
  }

  std::string_view Query(std::span<const JsonField> fields) {
    const JsonField* query = FindField(fields, "query");
    if (query == nullptr) {
      unread_.LookFor(KeyRole::kQuery, fields);
      throw reader_.Error("has no \"query\"");
    }
    return RequireString(reader_, *query);
  }

  void PassOver(std::span<const JsonField> fields, bool has_negatives) {
    UnreadKeys::Line line{.negatives = has_negatives};
    for (const Side& side : {kPositives, kNegatives}) {
      line.scores = line.scores || IsGiven(FindField(fields, side.scores)) ||
                    IsGiven(FindField(fields, side.probabilities));
    }
    for (const JsonField& field : fields) {
      if (!IsKnown(field.key)) unread_.Pass(field, line);
    }
  }

  // All lines must have the same prompt: the model is saved with one prompt for queries.
  void CheckPrompt(std::span<const JsonField> fields) {
    const JsonField* field = FindField(fields, "prompt");
    const std::string_view prompt =
        IsGiven(field) ? RequireString(reader_, *field) : std::string_view();
    if (!prompt_) {
      prompt_ = prompt;
      first_line_ = reader_.line_number();
    }
    if (*prompt_ == prompt) return;
    const auto name = [](std::string_view text) {
      return text.empty() ? std::string("no prompt") : fmt::format("the prompt \"{}\"", text);
    };
    throw reader_.Error(
        fmt::format("has {}, but line {} has {}; a file has one task, since a model is saved with "
                    "one query prompt: give all lines the same prompt, or split the file",
                    name(prompt), first_line_, name(*prompt_)));
  }

  void AddSide(std::span<const JsonField> fields, const Side& side) {
    const size_t before = documents_.size();
    const JsonField* texts = FindField(fields, side.texts);
    if (!IsGiven(texts)) {
      if (side.grade > 0) {
        unread_.LookFor(KeyRole::kPositive, fields);
        throw reader_.Error(fmt::format("has no \"{}\"", side.texts));
      }
    } else if (texts->kind != JsonField::Kind::kStrings &&
               texts->kind != JsonField::Kind::kValues) {
      throw reader_.Error(fmt::format("\"{}\" is {}; expected a list of strings", side.texts,
                                      KindName(texts->kind)));
    } else {
      AppendDocuments(reader_, *texts, side.grade, documents_);
    }
    AddScores(fields, side,
              {documents_.begin() + static_cast<ptrdiff_t>(before), documents_.end()});
  }

  void AddScores(std::span<const JsonField> fields, const Side& side,
                 std::span<LineDocument> documents) {
    const JsonField* scores = FindField(fields, side.scores);
    const JsonField* probabilities = FindField(fields, side.probabilities);
    if (IsGiven(scores)) {
      const std::span<const double> values = scores_.List(*scores, documents.size());
      SetScores(ScoreKind::kLists, values.size(), side.scores);
      for (size_t i = 0; i < values.size(); ++i) Set(documents[i], values[i], side.scores);
    }
    if (IsGiven(probabilities)) {
      const auto values = ExpectedGradeList(reader_, *probabilities, documents.size());
      SetScores(ScoreKind::kProbabilities, values.size(), side.probabilities);
      for (size_t i = 0; i < values.size(); ++i) Set(documents[i], values[i], side.probabilities);
    }
  }

  void SetScores(ScoreKind kind, size_t count, std::string_view key) {
    if (count > 0) sink_.SetScores({.kind = kind, .key = key});
  }

  void Set(LineDocument& document, double score, std::string_view key) const {
    const bool is_missing = document.is_null || IsEmptyText(document.text) || scores_.has_words();
    if (std::isnan(score) && !is_missing) {
      throw reader_.Error(
          fmt::format("\"{}\" has null for a document of \"{}\"", key, document.key));
    }
    document.score = score;
  }

  LineReader& reader_;
  ExampleSink& sink_;
  JsonLineParser parser_;
  ScoreReader scores_;
  UnreadKeys unread_;
  std::vector<LineDocument> documents_;  // of the line
  std::optional<std::string> prompt_;    // of all lines so far
  int64_t first_line_ = 0;
};

}  // namespace

void ReadFlagEmbedding(LineReader& reader, const LineRules& rules, ExampleSink& sink) {
  FlagEmbeddingReader(reader, rules, sink).Read();
}

Dataset ReadFlagEmbedding(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadFlagEmbedding(reader, {}, builder);
  return builder.Take();
}

Dataset ReadFlagEmbedding(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadFlagEmbedding(reader);
}

std::string_view FlagEmbeddingRole(std::string_view key) {
  if (key == "query") return "query";
  if (key == "prompt") return "prompt of queries";
  for (const Side& side : {kPositives, kNegatives}) {
    const bool positive = side.grade > 0;
    if (key == side.texts) return positive ? "positive" : "negative";
    if (key == side.scores) return positive ? "scores of positives" : "scores of negatives";
    if (key == side.probabilities) return "probabilities of grades";
  }
  return "";
}

}  // namespace tandem::data
