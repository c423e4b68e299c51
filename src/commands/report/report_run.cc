// The work of `tandem report` if models must be measured for the page.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "base/log.h"
#include "commands/report/model_record.h"
#include "commands/report/report_plan.h"
#include "commands/until_stopped.h"
#include "report/records/evaluation_file.h"

namespace tandem::app {
namespace {

// Collects the evaluations of one run until all of them are there. They are written together.
// Otherwise a run whose measuring was interrupted could have a `before` of one data set beside an
// `after` of another, or a `before` alone, which the next report would take for complete.
class RunRecords {
 public:
  // Must be called before the evaluation at `path` is measured. If it belongs to another run, those
  // of the earlier run are complete and are written.
  void Begin(const std::filesystem::path& path) {
    if (!texts_.empty() && texts_.front().first.parent_path() != path.parent_path()) Write();
  }
  void Add(const std::filesystem::path& path, const report::EvaluationRecord& record) {
    texts_.emplace_back(path, report::EvaluationText(record));
  }
  void Write() {
    for (const auto& [path, text] : texts_) {
      std::filesystem::create_directories(path.parent_path());
      WriteFileAtomically(path, text);
    }
    texts_.clear();
  }

 private:
  std::vector<std::pair<std::filesystem::path, std::string>> texts_;
};

// Whether both models would have the same record, as the base model of several runs does.
bool SameMeasuring(const ReportedModel& a, const ReportedModel& b) {
  return a.name == b.name && a.flags.model == b.flags.model &&
         a.flags.max_query_tokens == b.flags.max_query_tokens &&
         a.flags.max_document_tokens == b.flags.max_document_tokens &&
         a.data.folder == b.data.folder && a.data.split == b.data.split;
}

// Keeps the records of measured models, for models that occur again.
class MeasuredModels {
 public:
  explicit MeasuredModels(const ReportOptions& options) : options_(options) {}

  const report::EvaluationRecord& Record(const ReportedModel& model) {
    const auto known = std::find_if(records_.begin(), records_.end(), [&](const auto& record) {
      return SameMeasuring(*record.first, model);
    });
    if (known != records_.end()) return known->second;
    records_.emplace_back(&model, RecordModel(options_.globals, model.flags, model.name,
                                              {.folder = model.data.folder,
                                               .split = model.data.split,
                                               .relevance_level = options_.relevance_level,
                                               .by_document = options_.by_document}));
    return records_.back().second;
  }

 private:
  const ReportOptions& options_;
  std::vector<std::pair<const ReportedModel*, report::EvaluationRecord>> records_;
};

}  // namespace

std::vector<report::LabelledEvaluation> MeasureForReport(const std::vector<ReportedModel>& models,
                                                         const ReportOptions& options) {
  std::vector<report::LabelledEvaluation> measured;
  RunRecords records;
  MeasuredModels models_measured(options);
  size_t done = 0;
  for (const ReportedModel& model : models) {
    Note(fmt::format("measure {} on {}, split {} ({} of {})", model.flags.model, model.data.folder,
                     model.data.split, ++done, models.size()));
    records.Begin(model.record);
    const report::EvaluationRecord& record = models_measured.Record(model);
    StopIfAsked();
    if (model.record.empty()) {
      measured.push_back(
          {model.name, record,
           report::EvaluationPlace{.model = model.flags.model, .data = model.data.folder}});
      continue;
    }
    records.Add(model.record, record);
  }
  records.Write();
  return measured;
}

}  // namespace tandem::app
