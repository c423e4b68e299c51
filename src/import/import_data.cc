#include "import/import_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "base/progress.h"
#include "data/formats/beir_lines.h"
#include "data/write_dataset.h"
#include "import/columns/document_texts.h"
#include "import/corpus/corpus_documents.h"
#include "import/corpus/document_column.h"
#include "import/examples/example_reader.h"
#include "import/output/judged_pairs.h"
#include "import/output/output_files.h"
#include "import/output/text_store.h"

namespace tandem::import_data {
namespace {

constexpr uint64_t kRowsBetweenLooks = 4096;  // at the signal and the bar

class Importer {
 public:
  Importer(const ImportOptions& options, data::Warnings& warnings)
      : options_(options),
        warnings_(warnings),
        corpus_(CorpusOf(options, warnings)),
        files_(FilesOf(options, corpus_)),
        documents_(files_.corpus()),
        rejected_(files_.Rejected()),
        labels_(options.labels) {}

  ImportReport Run() {
    Understand();
    {
      Progress progress({.label = "read", .unit = "rows"});
      for (size_t i = 0; i < options_.sources.size(); ++i) ReadSource(i, progress);
    }
    CheckRejected();
    try {
      Grade();
      MakeSplits();
    } catch (const UsageError& error) {  // rows that were left out may be why
      if (rejected_.count() == 0) throw;
      throw UsageError(fmt::format("{}. Besides, {} of {} rows cannot be used, {}{}{}",
                                   error.what(), rejected_.count(), report_.rows, MostRejected(),
                                   LabelAdvice(), KeepRejected()));
    }
    CountGrades();
    if (!options_.is_trial) Write();
    Fill();
    return std::move(report_);
  }

 private:
  static std::optional<CorpusDocuments> CorpusOf(const ImportOptions& options,
                                                 data::Warnings& warnings) {
    if (options.corpus.empty() || options.corpus == kNoColumn) return std::nullopt;
    return std::optional<CorpusDocuments>(std::in_place, options.corpus, warnings);
  }
  static OutputFiles FilesOf(const ImportOptions& options,
                             const std::optional<CorpusDocuments>& corpus) {
    if (options.is_trial) return {};
    return {options.output, corpus ? corpus->file() : std::filesystem::path()};
  }

  std::unique_ptr<RowSource> Open(const std::string& source, data::Warnings& warnings) const {
    return options_.open ? options_.open(source, warnings)
                         : OpenSource(source, options_.source, warnings);
  }

  // Finds the columns of all sources before any is read whole, so that a mistake shows at once.
  void Understand() {
    for (const std::string& file : options_.sources) {
      data::Warnings ignored;  // counted when all rows are read
      const Columns chosen =
          corpus_ ? WithDocumentColumn(*Open(file, ignored), options_.columns, *corpus_, file)
                  : options_.columns;
      const std::unique_ptr<RowSource> source = Open(file, ignored);
      const SourceSample sample = SampleSource(*source);
      Understood understood = FindColumns(sample, chosen, file);
      if (chosen.document != options_.columns.document) SayFoundInCorpus(chosen, understood);
      const Columns& found = understood.columns;
      if (options_.corpus.empty()) CheckDocumentsAreTexts(sample, found.document, file);
      if (!options_.labels.empty() && (found.has_clicks() || found.label.empty())) {
        throw UsageError(
            fmt::format("{}: --labels says what labels stand for, but no column of labels was "
                        "found; name it with --label",
                        file));
      }
      columns_.push_back(std::move(understood.columns));
      report_.sources.push_back({.file = file,
                                 .description = source->Description(),
                                 .reasons = std::move(understood.reasons)});
    }
  }

  static void SayFoundInCorpus(const Columns& chosen, Understood& understood) {
    const std::string reason = fmt::format("document: \"{}\"", chosen.document);
    std::replace(understood.reasons.begin(), understood.reasons.end(), reason,
                 reason + " (its values are ids of the corpus)");
  }

  void ReadSource(size_t number, Progress& progress) {
    const std::unique_ptr<RowSource> source = Open(options_.sources[number], warnings_);
    ExampleReader reader(columns_[number], labels_);
    Row row;
    Example example;
    while (source->Next(&row)) {
      if (report_.rows++ % kRowsBetweenLooks == 0) {
        if (const int signal = StopSignal(options_.stop)) {
          throw Interrupted(
              signal, fmt::format("stopped after {} rows; nothing was written", report_.rows - 1));
        }
        progress.Update(report_.rows - 1);
      }
      ++report_.sources[number].rows;
      const bool is_read = row.problem.empty() && reader.Read(row, &example);
      if (!is_read || !Take(columns_[number], row, example)) rejected_.Add(row);
    }
    progress.Update(report_.rows);
  }

  // Stores what the row says. False, with the row's problem, where a text cannot be stored.
  bool Take(const Columns& columns, Row& row, const Example& example) {
    if (corpus_ && !corpus_->HaveAll(example, row)) return false;
    const auto refuse = [&](const StoredText& stored) {
      row.problem_kind = "rows with an id that had another text";
      row.problem = stored.problem +
                    " (--id or --query-id names another column of ids, and \"-\" "
                    "none: ids are then made of the texts)";
      return false;
    };
    const StoredText query = queries_.Add(example.query_id, example.query);
    if (!query.problem.empty()) return refuse(query);
    for (const ExampleDocument& document : example.documents) {
      const StoredText stored = corpus_
                                    ? StoredText{.number = *corpus_->Find(document.text)}
                                    : documents_.Add(document.id, document.title, document.text);
      if (!stored.problem.empty()) return refuse(stored);
      if (columns.has_clicks() && !document.is_negative) {
        pairs_.AddClicks(query.number, stored.number, example.clicks, example.impressions,
                         example.position);
      } else {
        pairs_.Add(query.number, stored.number, document.is_negative ? 0 : example.grade);
      }
    }
    if (!example.group.empty()) groups_.emplace_back(query.number, TextHash(example.group));
    report_.empty_negatives += example.empty_negatives;
    if (shown_rows_ < ImportReport::kShownRows) Show(columns, row, example);
    return true;
  }

  void Show(const Columns& columns, const Row& row, const Example& example) {
    ++shown_rows_;
    for (const ExampleDocument& document : example.documents) {
      ShownRow shown{.line = row.line,
                     .query = std::string(example.query),
                     .document = std::string(document.title)};
      if (!shown.document.empty()) shown.document += ' ';
      shown.document += document.text;
      if (document.is_negative) {
        shown.grade = 0;
      } else if (!columns.has_clicks()) {
        shown.grade = example.grade;
      }
      report_.shown.push_back(std::move(shown));
    }
  }

  // "most of them rows without a query (the first: FILE:3: "answer" is empty)".
  std::string MostRejected() const {
    const std::vector<RejectedKind>& kinds = rejected_.kinds();
    const auto most = std::max_element(
        kinds.begin(), kinds.end(),
        [](const RejectedKind& a, const RejectedKind& b) { return a.rows < b.rows; });
    return fmt::format("{} of them {} (the first: {}:{}: {})", most->rows, most->kind,
                       most->first_file, most->first_line, most->first_reason);
  }

  // Puts the rejected rows beside the output, which is not made.
  std::string KeepRejected() {
    if (options_.is_trial) return "";
    rejected_.Commit();
    std::filesystem::path output = options_.output;
    if (!output.has_filename()) output = output.parent_path();
    const std::filesystem::path kept = output.native() + ".rejected.jsonl";
    std::error_code error;
    std::filesystem::rename(files_.Rejected(), kept, error);
    if (error) throw OutputError(kept.native(), "cannot be put in place", error.value());
    return fmt::format("; all are in {}", kept.native());
  }

  std::string LabelAdvice() const {
    std::string flag;
    for (const std::string& word : labels_.unknown()) {
      flag += fmt::format("{}{}=...", flag.empty() ? "" : ",", word);
    }
    return flag.empty() ? "" : fmt::format("; say what labels stand for: --labels {}", flag);
  }

  void CheckRejected() {
    const uint64_t rejected = rejected_.count();
    if (report_.rows == 0) {
      throw UsageError(fmt::format("{}: holds no row beside the names of its columns",
                                   options_.sources.front()));
    }
    if (rejected == report_.rows) {
      throw UsageError(fmt::format("none of {} rows can be used, {}{}{}", report_.rows,
                                   MostRejected(), LabelAdvice(), KeepRejected()));
    }
    const double share = static_cast<double>(rejected) / static_cast<double>(report_.rows);
    if (share <= options_.most_rejected) return;
    throw UsageError(fmt::format(
        "{} of {} rows ({:.1f} %) cannot be used, more than --max-rejected {:g}%: {}{}{}", rejected,
        report_.rows, share * 100, options_.most_rejected * 100, MostRejected(), LabelAdvice(),
        KeepRejected()));
  }

  void Grade() {
    if (pairs_.has_clicks()) report_.clicks = pairs_.GradeClicks(options_.clicks);
    const auto is_positive = [](const JudgedPair& pair) { return pair.grade > 0; };
    if (std::any_of(pairs_.pairs().begin(), pairs_.pairs().end(), is_positive)) return;
    if (!pairs_.pairs().empty()) {
      throw UsageError(
          "no row says that a document is relevant: all grades are 0; --labels gives the labels of "
          "relevant documents a number above 0");
    }
    throw UsageError(
        fmt::format("no pair of query and document is left: of {} pairs {} were shown less than "
                    "--min-impressions {}, and {} are too near an average document to call them "
                    "relevant or not",
                    report_.clicks->pairs, report_.clicks->few_impressions,
                    options_.clicks.least_impressions, report_.clicks->undecided));
  }

  void MakeSplits() {
    split_of_query_.assign(queries_.texts().size(), options_.split.value_or(Split::kTrain));
    if (options_.split || options_.holdout.share == 0) return;
    std::vector<std::pair<uint32_t, uint32_t>> positives;
    for (const JudgedPair& pair : pairs_.pairs()) {
      if (pair.grade > 0) positives.emplace_back(pair.query, pair.document);
    }
    HoldoutOptions holdout = options_.holdout;
    holdout.stop = options_.stop;
    report_.holdout = HoldOut({queries_.texts(), positives, groups_}, holdout);
    split_of_query_ = report_.holdout->of_query;
    if (!options_.holdout.by_documents) return;
    for (const auto& [query, document] : positives) {
      if (split_of_query_[query] != Split::kTrain) held_out_documents_.insert(document);
    }
  }

  // What is a positive of a held-out query is no negative of training.
  bool IsLeftOut(const JudgedPair& pair) const {
    return split_of_query_[pair.query] == Split::kTrain && pair.grade <= 0 &&
           held_out_documents_.contains(pair.document);
  }

  void CountGrades() {
    std::unordered_set<uint32_t> judged;  // documents
    is_judged_.assign(queries_.texts().size(), false);
    for (const JudgedPair& pair : pairs_.pairs()) {
      if (IsLeftOut(pair)) {
        ++report_.kept_from_train;
        continue;
      }
      SplitReport& split = report_.splits[split_of_query_[pair.query]];
      ++split.judgements;
      ++report_.judgements;
      ++report_.grades[pair.grade];
      if (corpus_ && judged.insert(pair.document).second) {
        ++report_.judged_documents;
        report_.cut_documents += corpus_->is_cut(pair.document) ? 1 : 0;
      }
      if (!is_judged_[pair.query]) ++split.queries;
      is_judged_[pair.query] = true;
    }
    report_.queries = static_cast<uint64_t>(std::count(is_judged_.begin(), is_judged_.end(), true));
    report_.unjudged_queries = is_judged_.size() - report_.queries;
  }

  void WriteQueries() {
    AtomicFile file(files_.Path("queries.jsonl"));
    const data::Texts& queries = queries_.texts();
    std::string line;
    for (uint32_t i = 0; i < queries.size(); ++i) {
      if (!is_judged_[i]) continue;
      line.clear();
      data::AppendBeirQuery(line, queries.id(i), queries.text(i));
      file.Write(line);
    }
    file.Commit();
  }

  std::string IdOf(uint32_t document) const {
    return corpus_ ? std::string(corpus_->id(document)) : documents_.id(document);
  }

  // The judgements of a query stand together, queries in the order of their first row.
  void WriteSplit(Split split, std::span<const JudgedPair> pairs) {
    if (!report_.splits.contains(split)) return;
    AtomicFile file(files_.Path(fmt::format("qrels/{}.tsv", SplitName(split))));
    file.Write(data::kQrelsHeader);
    std::string line;
    for (const JudgedPair& pair : pairs) {
      if (split_of_query_[pair.query] != split || IsLeftOut(pair)) continue;
      line.clear();
      data::AppendBeirJudgement(line, queries_.texts().id(pair.query), IdOf(pair.document),
                                pair.grade);
      file.Write(line);
    }
    file.Commit();
  }

  void Write() {
    files_.CommitCorpus();
    WriteQueries();
    std::vector<JudgedPair> sorted(pairs_.pairs().begin(), pairs_.pairs().end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const JudgedPair& a, const JudgedPair& b) { return a.query < b.query; });
    for (const Split split : {Split::kTrain, Split::kDev, Split::kTest}) WriteSplit(split, sorted);
    rejected_.Commit();
    files_.CommitFolder();
    if (rejected_.count() > 0) report_.rejected_file = options_.output / "rejected.jsonl";
  }

  void Fill() {
    report_.rejected = rejected_.count();
    report_.rejected_kinds = rejected_.kinds();
    report_.documents = corpus_ ? corpus_->texts() : documents_.size();
    report_.repeated = pairs_.repeated();
    report_.contradicting = pairs_.contradicting();
    report_.merged_ids = documents_.merged() + queries_.merged();
    report_.thumbs = labels_.thumbs();
  }

  const ImportOptions& options_;
  data::Warnings& warnings_;
  std::optional<CorpusDocuments> corpus_;  // whose documents rows name; none: rows have texts
  OutputFiles files_;
  DocumentStore documents_;
  QueryStore queries_;
  JudgedPairs pairs_;
  RejectedRows rejected_;
  Labels labels_;
  std::vector<Columns> columns_;  // [sources]
  std::vector<std::pair<uint32_t, uint64_t>> groups_;
  std::vector<Split> split_of_query_;  // [queries]
  std::vector<bool> is_judged_;        // [queries]
  std::unordered_set<uint32_t> held_out_documents_;
  size_t shown_rows_ = 0;
  ImportReport report_;
};

}  // namespace

ImportReport ImportData(const ImportOptions& options, data::Warnings& warnings) {
  for (const data::LabelNumber& one : options.labels) {
    if (one.number >= 0) continue;
    throw UsageError(fmt::format(
        "--labels gives \"{}\" the number {}; a grade is 0 or above (below 0 means \"not judged\")",
        one.label, one.number));
  }
  if (!options.is_trial) data::CheckWriteRequest("beir", options.output);
  return Importer(options, warnings).Run();
}

}  // namespace tandem::import_data
