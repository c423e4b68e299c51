// Writes BEIR folders. All texts are kept, whether anybody judged them or not, and all grades.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "data/formats/beir_lines.h"
#include "data/formats/dataset_writer.h"

namespace tandem::data {
namespace {

bool HasScores(const Dataset& dataset) {
  return std::any_of(dataset.judged.begin(), dataset.judged.end(), [](const JudgedQuery& judged) {
    return std::any_of(judged.judgements.begin(), judged.judgements.end(),
                       [](const Judgement& judgement) { return judgement.has_score(); });
  });
}

void CheckHasNoScores(const Dataset& dataset) {
  if (dataset.has_grades || dataset.scores == ScoreKind::kNone || !HasScores(dataset)) return;
  if (dataset.meaning == ScoreMeaning::kLabels) return;  // they are the grades
  throw UsageError(fmt::format(
      "{}: has scores, which a BEIR folder has no place for: take them as grades or leave them out "
      "(tandem convert --scores grades, --scores ignored), or write another format",
      dataset.file));
}

// An id as a field of judgements: readers take the blanks around a field off, and tabs end it.
std::string_view FieldOf(std::string_view id, const Dataset& dataset) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (std::any_of(id.begin(), id.end(), is_control)) {
    throw DataError(dataset.file, 0, id,
                    "an id with a control character cannot stand in BEIR's judgements; rename it");
  }
  if (id.empty() || id.front() == ' ' || id.back() == ' ') {
    throw DataError(dataset.file, 0, "",
                    fmt::format("the id \"{}\" begins or ends with a blank, which BEIR's "
                                "judgements cannot hold; rename it",
                                id));
  }
  return id;
}

void WriteDocuments(const Texts& documents, const std::filesystem::path& path) {
  AtomicFile file(path);
  std::string line;
  for (uint32_t i = 0; i < documents.size(); ++i) {
    line.clear();
    AppendBeirDocument(line, documents.id(i), documents.title(i), documents.body(i));
    file.Write(line);
  }
  file.Commit();
}

void WriteQueries(const Texts& queries, const std::filesystem::path& path) {
  AtomicFile file(path);
  std::string line;
  for (uint32_t i = 0; i < queries.size(); ++i) {
    line.clear();
    AppendBeirQuery(line, queries.id(i), queries.text(i));
    file.Write(line);
  }
  file.Commit();
}

// Counts the grades that other readers of such folders take for something else.
void CountGrade(const WriteRequest& request, const JudgedQuery& judged,
                const Judgement& judgement) {
  const std::string& output = request.output.native();
  const std::string_view id = request.dataset.queries.id(judged.query);
  if (std::floor(judgement.grade) != judgement.grade) {
    request.warnings.Count(
        output, "grades that are no whole numbers, which BEIR's own loader does not read", 0, id);
  }
  if (judgement.grade < 0 && request.dataset.scores != ScoreKind::kNone) {
    request.warnings.Count(
        output, "grades below 0, which mean \"not judged\" in a file of judgements", 0, id);
  }
}

// The split of a query: the one that is written, or what the options say.
std::string_view SplitOf(const WriteRequest& request, uint32_t query) {
  if (request.options.split_of_query) return request.options.split_of_query(query);
  return request.options.split;
}

// Writes a file for each split, in which its queries stand in their order. Returns how many
// judgements there are.
size_t WriteJudgements(const WriteRequest& request, const std::filesystem::path& folder) {
  std::map<std::string, std::unique_ptr<AtomicFile>, std::less<>> files;
  size_t count = 0;
  std::string line;
  for (const JudgedQuery& judged : request.dataset.judged) {
    const std::string_view split = SplitOf(request, judged.query);
    auto file = files.find(split);
    if (file == files.end()) {
      const std::string name(split);
      file = files.emplace(name, std::make_unique<AtomicFile>(folder / (name + ".tsv"))).first;
      file->second->Write(kQrelsHeader);
    }
    for (const Judgement& judgement : judged.judgements) {
      if (request.options.leaves_out && request.options.leaves_out(judged.query, judgement)) {
        continue;
      }
      CountGrade(request, judged, judgement);
      line.clear();
      AppendBeirJudgement(
          line, FieldOf(request.dataset.queries.id(judged.query), request.dataset),
          FieldOf(request.dataset.documents.id(judgement.document), request.dataset),
          judgement.grade);
      file->second->Write(line);
      ++count;
    }
  }
  for (const auto& [name, file] : files) file->Commit();
  return count;
}

WriteCounts WriteBeir(const WriteRequest& request) {
  const Dataset& dataset = request.dataset;
  CheckHasNoScores(dataset);
  AtomicFolder folder(request.output);
  MakeFolder(folder.staging() / "qrels");
  WriteCounts counts{.queries = dataset.queries.size(), .documents = dataset.documents.size()};
  counts.judgements = WriteJudgements(request, folder.staging() / "qrels");
  if (counts.judgements == 0) {
    throw DataError(dataset.file, 0, "", "nothing is left to write: nothing is judged");
  }
  WriteDocuments(dataset.documents, folder.staging() / "corpus.jsonl");
  WriteQueries(dataset.queries, folder.staging() / "queries.jsonl");
  if (!dataset.query_prompt.empty()) {
    request.warnings.Count(
        request.output.native(),
        fmt::format("query prompts that the format has no place for, left out (give "
                    "model.query_prompt = \"{}\" in the recipe)",
                    dataset.query_prompt),
        0);
  }
  folder.Commit();
  return counts;
}

}  // namespace

extern const DatasetWriter kBeirWriter{.format = "beir", .is_folder = true, .write = WriteBeir};

}  // namespace tandem::data
