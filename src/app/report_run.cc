// The work of `tandem report` where models are measured for the page.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/model_record.h"
#include "app/report_plan.h"
#include "base/files.h"
#include "base/log.h"
#include "report/evaluation_file.h"

namespace tandem::app {

std::vector<report::LabelledEvaluation> MeasureForReport(const std::vector<ReportedModel>& models,
                                                         double relevance_level) {
  std::vector<report::LabelledEvaluation> measured;
  size_t done = 0;
  for (const ReportedModel& model : models) {
    Note(fmt::format("measure {} on {}, split {} ({} of {})", model.flags.model, model.folder,
                     model.split, ++done, models.size()));
    report::EvaluationRecord record = RecordModel(
        model.flags, model.name,
        {.folder = model.folder, .split = model.split, .relevance_level = relevance_level});
    if (model.record.empty()) {
      measured.push_back({model.name, std::move(record)});
      continue;
    }
    std::filesystem::create_directories(model.record.parent_path());
    WriteFileAtomically(model.record, report::EvaluationText(record));
  }
  return measured;
}

}  // namespace tandem::app
