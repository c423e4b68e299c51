// The work of `tandem report` where models are measured for the page.
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
#include "report/records/evaluation_file.h"

namespace tandem::app {
namespace {

// Evaluations of one run until all of them are there. They are written together, so that a run
// whose measuring was interrupted has no `before` of one data set beside an `after` of another, and
// no `before` alone, which the next report would take for all that there is.
class RunRecords {
 public:
  // Before the evaluation at `path` is measured: those of another run are whole.
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

// Whether both would be measured to the same record, as the base of several runs is.
bool SameMeasuring(const ReportedModel& a, const ReportedModel& b) {
  return a.name == b.name && a.flags.model == b.flags.model &&
         a.flags.max_query_tokens == b.flags.max_query_tokens &&
         a.flags.max_document_tokens == b.flags.max_document_tokens &&
         a.data.folder == b.data.folder && a.data.split == b.data.split;
}

// The records of what was measured, for models that come again.
class MeasuredModels {
 public:
  explicit MeasuredModels(const Globals& globals) : globals_(globals) {}

  const report::EvaluationRecord& Record(const ReportedModel& model, double relevance_level) {
    const auto known = std::find_if(records_.begin(), records_.end(), [&](const auto& record) {
      return SameMeasuring(*record.first, model);
    });
    if (known != records_.end()) return known->second;
    records_.emplace_back(&model, RecordModel(globals_, model.flags, model.name,
                                              {.folder = model.data.folder,
                                               .split = model.data.split,
                                               .relevance_level = relevance_level}));
    return records_.back().second;
  }

 private:
  const Globals& globals_;
  std::vector<std::pair<const ReportedModel*, report::EvaluationRecord>> records_;
};

}  // namespace

std::vector<report::LabelledEvaluation> MeasureForReport(const std::vector<ReportedModel>& models,
                                                         double relevance_level,
                                                         const Globals& globals) {
  std::vector<report::LabelledEvaluation> measured;
  RunRecords records;
  MeasuredModels models_measured(globals);
  size_t done = 0;
  for (const ReportedModel& model : models) {
    Note(fmt::format("measure {} on {}, split {} ({} of {})", model.flags.model, model.data.folder,
                     model.data.split, ++done, models.size()));
    records.Begin(model.record);
    const report::EvaluationRecord& record = models_measured.Record(model, relevance_level);
    if (model.record.empty()) {
      measured.push_back({model.name, record});
      continue;
    }
    records.Add(model.record, record);
  }
  records.Write();
  return measured;
}

}  // namespace tandem::app
