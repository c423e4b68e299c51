// Writes made runs for the check of pages: `report_example FOLDER` makes FOLDER/one and FOLDER/two,
// finished runs with evaluations, FOLDER/half, a run that has only begun, and FOLDER/hostile, whose
// texts try to leave their place.
#include <filesystem>
#include <iostream>

#include "base/files/files.h"
#include "report/example_run.h"
#include "report/records/evaluation_file.h"

int main(int argc, char** argv) {
  using namespace tandem;
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::cerr << "usage: report_example FOLDER\n";
    return 2;
  }
  const fs::path folder = argv[1];
  report::WriteExampleRun(folder / "one", {.name = "mann_whitney", .separation = 0.24, .seed = 2});
  report::WriteExampleRun(folder / "two", {.name = "infonce", .separation = 0.18, .seed = 3});
  MakeFolder(folder / "half");
  WriteFileAtomically(folder / "half" / "metrics.jsonl",
                      "{\"step\":10,\"epoch\":0.1,\"loss\":1.5}\n{\"step\":20,\"lo");
  report::EvaluationRecord hostile = report::ExampleEvaluation({.separation = 0.2, .seed = 4});
  const std::string text =
      "</script><script>document.title='owned'</script><img src=x onerror=alert(1)> \"'& "
      "\xE2\x80\xAE reversed \xFF " +
      std::string(300, 'w');
  hostile.model.name = text;
  hostile.dataset.name = text;
  for (report::QueryCase& query : hostile.cases->worst) {
    query.id = query.text = text;
    for (report::QueryResult& result : query.results) result.id = result.text = text;
  }
  fs::create_directories(folder / "hostile" / "report");
  WriteFileAtomically(folder / "hostile" / "metrics.jsonl", "");
  WriteFileAtomically(folder / "hostile" / "report" / "after.evaluation.json",
                      report::EvaluationText(hostile));
  return 0;
}
