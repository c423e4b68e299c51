// Writes made runs for the check of pages: `report_example FOLDER` makes FOLDER/one and FOLDER/two,
// finished runs with evaluations, FOLDER/half, a run that has only begun, and FOLDER/hostile, whose
// texts try to leave their place. FOLDER/many has the runs of a sweep.
#include <filesystem>
#include <iostream>

#include "base/files/files.h"
#include "report/example_run.h"
#include "report/records/evaluation_file.h"
#include "sampling/audit/audit_file.h"

namespace {

// The scores by which the sampler of an example run may have begun.
void WriteFirstScores(const std::filesystem::path& run) {
  std::vector<float> scores;
  for (int i = 0; i < 2000; ++i) scores.push_back(static_cast<float>(i % 97) / 97);
  tandem::WriteFileAtomically(run / "sampling" / "first-scores.bin",
                              tandem::sampling::FirstScoresBytes(scores));
}

// Two objectives, five learning rates and two seeds.
void WriteManyRuns(const std::filesystem::path& folder) {
  using tandem::ReadFile;
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  uint64_t number = 10;
  for (const char* objective : {"mann_whitney", "infonce"}) {
    for (const char* rate : {"1e-6", "1e-5", "3e-5", "1e-4", "1e-3"}) {
      for (const char* seed : {"1", "2"}) {
        const std::filesystem::path run =
            folder / (std::string(objective) + "-" + rate) / (std::string("seed-") + seed);
        tandem::report::WriteExampleRun(run,
                                        {.name = objective, .separation = 0.2, .seed = ++number});
        std::string recipe = ReadFile(run / "recipe.resolved.toml");
        replace(recipe, "seed = 1", std::string("seed = ") + seed);
        replace(recipe, "mann_whitney", objective);
        recipe += std::string("\n[optimizer]\nlearning_rate = ") + rate + "\n";
        tandem::WriteFileAtomically(run / "recipe.resolved.toml", recipe);
      }
    }
  }
}

}  // namespace

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
  WriteFirstScores(folder / "one");
  WriteManyRuns(folder / "many");
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
