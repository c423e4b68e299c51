#include "data/formats/beir.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "data/folder_files.h"
#include "data/formats/qrels_file.h"
#include "data/texts/texts_file.h"

namespace tandem::data {
namespace {

namespace fs = std::filesystem;

void CheckFolder(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    throw DataError(folder.native(), 0, "",
                    "there is no such folder; expected one with corpus.jsonl, queries.jsonl and "
                    "qrels/SPLIT.tsv");
  }
  if (!fs::is_directory(folder, error)) {
    throw DataError(folder.native(), 0, "",
                    "is not a folder; expected one with corpus.jsonl, queries.jsonl and "
                    "qrels/SPLIT.tsv");
  }
}

// `folder/name` or `folder/name.gz`; empty where neither exists.
fs::path FindFile(const fs::path& folder, const std::string& name) {
  const fs::path plain = folder / name;
  const fs::path packed = folder / (name + ".gz");
  std::error_code error;
  const bool has_plain = fs::exists(plain, error);
  const bool has_packed = fs::exists(packed, error);
  if (has_plain && has_packed) {
    throw DataError(folder.native(), 0, "",
                    fmt::format("has both {0} and {0}.gz; remove one", name));
  }
  return has_plain ? plain : has_packed ? packed : fs::path();
}

// Says whether any of BEIR's files of texts is there.
bool IsBeirFolder(const fs::path& folder) {
  std::error_code error;
  for (const char* name :
       {"corpus.jsonl", "corpus.jsonl.gz", "queries.jsonl", "queries.jsonl.gz"}) {
    if (fs::exists(folder / name, error)) return true;
  }
  return false;
}

// What somebody can do whose folder has a corpus and no judged queries.
std::string HowToJudge(const fs::path& folder, std::string_view split) {
  const bool is_asked = split == "train" || split == "dev";  // else it is `import`'s own choice
  return fmt::format(
      "; `tandem import questions.csv --corpus {}{} -o OTHER` makes OTHER, the same corpus with "
      "queries and judgements, of a table whose columns are question and document, the latter an "
      "id of the corpus. Or write queries.jsonl, a line for each query, {{\"_id\": \"q1\", "
      "\"text\": \"how do I wash them\"}}, and qrels/{}.tsv, whose first line is "
      "query-id\\tcorpus-id\\tscore and each further one such as q1\\tcare.md\\t1 (\\t is a tab)",
      folder.native(), is_asked ? fmt::format(" --split {}", split) : "",
      split.find('/') == std::string_view::npos ? split : "test");
}

fs::path RequireFile(const fs::path& folder, const std::string& name) {
  CheckFolder(folder);
  fs::path file = FindFile(folder, name);
  if (file.empty()) {
    const bool has_corpus = !FindFile(folder, "corpus.jsonl").empty();
    throw DataError(folder.native(), 0, "",
                    fmt::format("has neither {0} nor {0}.gz{1}", name,
                                has_corpus             ? HowToJudge(folder, "test")
                                : IsBeirFolder(folder) ? ""
                                                       : FilesInstead(folder)));
  }
  return file;
}

std::vector<std::string> SplitsOf(const fs::path& qrels_folder) {
  std::vector<std::string> splits;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(qrels_folder, error)) {
    const std::string file = entry.path().filename().native();  // outlives the view below
    std::string_view name = file;
    if (name.ends_with(".gz")) name.remove_suffix(3);
    if (!name.ends_with(".tsv")) continue;
    name.remove_suffix(4);
    splits.emplace_back(name);
  }
  std::sort(splits.begin(), splits.end());
  return splits;
}

namespace {

std::string MissingSplit(const fs::path& folder, std::string_view split) {
  const std::vector<std::string> splits = SplitsOf(folder / "qrels");
  if (splits.empty()) {
    return fmt::format("has no split {}: qrels/ is missing or holds no .tsv{}", split,
                       HowToJudge(folder, split));
  }
  const bool has_train = std::find(splits.begin(), splits.end(), "train") != splits.end();
  return fmt::format("has no split {}; it has {}{}", split, fmt::join(splits, ", "),
                     has_train ? fmt::format(" (tandem convert {} --to beir --holdout 15% --output "
                                             "OTHER makes more of train)",
                                             folder.native())
                               : "");
}

}  // namespace

fs::path RequireSplit(const fs::path& folder, std::string_view split) {
  CheckFolder(folder);
  // A split is a file name, not a path out of the folder.
  const bool is_name = !split.empty() && split.find('/') == std::string_view::npos;
  const fs::path file =
      is_name ? FindFile(folder / "qrels", std::string(split) + ".tsv") : fs::path();
  if (file.empty()) {
    throw DataError(folder.native(), 0, "", MissingSplit(folder, split));
  }
  return file;
}

// Adds the judgements of `qrels` to `dataset`; counts and drops those with unknown ids.
void Resolve(const fs::path& file, const Qrels& qrels, Dataset& dataset, Warnings& warnings) {
  for (const QueryJudgements& read : qrels.queries()) {
    const std::optional<uint32_t> query = dataset.queries.Find(read.query);
    JudgedQuery judged;
    for (const GradedDocument& judgement : read.judgements) {
      if (!query) {
        warnings.Count(file.native(), "judgements of unknown queries, dropped", 0, read.query);
        continue;
      }
      const std::optional<uint32_t> document = dataset.documents.Find(judgement.document);
      if (!document) {
        warnings.Count(file.native(), "judgements of unknown documents, dropped", 0,
                       judgement.document);
        continue;
      }
      judged.judgements.push_back(
          {.document = *document, .grade = judgement.grade, .line = judgement.line});
    }
    if (judged.judgements.empty()) continue;
    judged.query = *query;
    dataset.judged.push_back(std::move(judged));
  }
}

// The data set of `texts` with the judgements of `qrels`, which come from `qrels_file`. Throws
// DataError where no judgement is about these texts.
Dataset Judge(const fs::path& qrels_file, const Qrels& qrels, const BeirTexts& texts,
              Warnings& warnings) {
  Dataset dataset{.documents = texts.documents,
                  .queries = texts.queries,
                  .file = qrels_file.native(),
                  .has_grades = true};
  Resolve(qrels_file, qrels, dataset, warnings);
  if (dataset.judged.empty()) {
    throw DataError(qrels_file.native(), 0, qrels.queries().front().query,
                    "no judgement is left: all of them name queries or documents that the folder "
                    "does not have");
  }
  return dataset;
}

}  // namespace

fs::path FindBeirTexts(const fs::path& folder, TextRole role) {
  return RequireFile(folder, role == TextRole::kDocument ? "corpus.jsonl" : "queries.jsonl");
}

BeirFiles FindBeirFiles(const fs::path& folder) {
  BeirFiles files{.corpus = FindBeirTexts(folder, TextRole::kDocument),
                  .queries = FindBeirTexts(folder, TextRole::kQuery),
                  .splits = {}};
  for (const std::string& split : SplitsOf(folder / "qrels")) {
    files.splits.push_back({split, RequireSplit(folder, split)});
  }
  return files;
}

Texts LoadBeirCorpus(const fs::path& folder, Warnings* warnings) {
  return ReadTexts(FindBeirTexts(folder, TextRole::kDocument), TextRole::kDocument, warnings);
}

Texts LoadBeirQueries(const fs::path& folder, Warnings* warnings) {
  return ReadTexts(FindBeirTexts(folder, TextRole::kQuery), TextRole::kQuery, warnings);
}

Qrels LoadBeirQrels(const fs::path& folder, std::string_view split, Warnings* warnings) {
  return ReadQrels(RequireSplit(folder, split), warnings);
}

Dataset LoadBeirSplit(const fs::path& folder, std::string_view split, const BeirTexts& texts,
                      Warnings* warnings) {
  WarningScope scope(warnings);
  const fs::path qrels_file = RequireSplit(folder, split);
  return Judge(qrels_file, ReadQrels(qrels_file, &scope.get()), texts, scope.get());
}

Dataset LoadBeir(const fs::path& folder, std::string_view split, Warnings* warnings) {
  WarningScope scope(warnings);
  // Looks for all three files before it reads the first, so that a wrong split shows at once.
  const fs::path corpus = FindBeirTexts(folder, TextRole::kDocument);
  const fs::path queries = FindBeirTexts(folder, TextRole::kQuery);
  const fs::path qrels_file = RequireSplit(folder, split);
  const Qrels qrels = ReadQrels(qrels_file, &scope.get());
  BeirTexts texts;
  texts.queries = ReadTexts(queries, TextRole::kQuery, &scope.get());
  texts.documents = ReadTexts(corpus, TextRole::kDocument, &scope.get());
  return Judge(qrels_file, qrels, texts, scope.get());
}

}  // namespace tandem::data
