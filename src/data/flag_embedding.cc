#include "data/flag_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "data/dataset_builder.h"
#include "data/json_line.h"
#include "data/line_documents.h"
#include "data/score_fields.h"

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
  constexpr std::array kKeys = {std::string_view("query"), std::string_view("prompt")};
  if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) return true;
  for (const Side& side : {kPositives, kNegatives}) {
    if (key == side.texts || key == side.scores || key == side.probabilities) return true;
  }
  return false;
}

class FlagEmbeddingReader {
 public:
  FlagEmbeddingReader(LineReader& reader, ExampleSink& sink) : reader_(reader), sink_(sink) {}

  void Read() {
    JsonLineParser parser;
    std::string_view line;
    while (reader_.Next(&line)) ReadLine(parser.Parse(reader_, line));
    sink_.SetQueryPrompt(prompt_.value_or(""));
  }

 private:
  void ReadLine(std::span<const JsonField> fields) {
    const std::string_view query = Query(fields);
    CheckPrompt(fields);
    documents_.clear();
    AddSide(fields, kPositives);
    if (documents_.empty()) throw reader_.Error("\"pos\" is an empty list");
    AddSide(fields, kNegatives);
    for (const JsonField& field : fields) {
      if (!IsKnown(field.key)) sink_.CountIgnored(field.key);
    }
    JudgeLine(sink_, reader_, query, documents_);
  }

  std::string_view Query(std::span<const JsonField> fields) const {
    const JsonField* query = FindField(fields, "query");
    if (query == nullptr) throw reader_.Error("has no \"query\"");
    return RequireString(reader_, *query);
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
      if (side.grade > 0) throw reader_.Error(fmt::format("has no \"{}\"", side.texts));
    } else if (texts->kind != JsonField::Kind::kStrings) {
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
      const std::span<const double> values = ScoreList(reader_, *scores, documents.size());
      if (!values.empty()) sink_.SetScoreKind(ScoreKind::kLists);
      for (size_t i = 0; i < values.size(); ++i) documents[i].score = values[i];
    }
    if (IsGiven(probabilities)) {
      const auto values = ExpectedGradeList(reader_, *probabilities, documents.size());
      if (!values.empty()) sink_.SetScoreKind(ScoreKind::kProbabilities);
      for (size_t i = 0; i < values.size(); ++i) documents[i].score = values[i];
    }
  }

  LineReader& reader_;
  ExampleSink& sink_;
  std::vector<LineDocument> documents_;  // of the line
  std::optional<std::string> prompt_;    // of all lines so far
  int64_t first_line_ = 0;
};

}  // namespace

void ReadFlagEmbedding(LineReader& reader, ExampleSink& sink) {
  FlagEmbeddingReader(reader, sink).Read();
}

Dataset ReadFlagEmbedding(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadFlagEmbedding(reader, builder);
  return builder.Take();
}

Dataset ReadFlagEmbedding(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadFlagEmbedding(reader);
}

}  // namespace tandem::data
