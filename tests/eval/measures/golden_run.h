// Runs, judgements and values of other programs, as tools/golden/make_measure_golden.py writes
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/files/files.h"
#include "eval/evaluate.h"

namespace tandem::eval {

inline nlohmann::json ReadGolden(const std::string& name) {
  return nlohmann::json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/eval/" + name));
}

inline data::Run RunOf(const nlohmann::json& golden) {
  data::Run run;
  for (const auto& [query, results] : golden["run"].items()) {
    data::QueryResults& added = run.AddQuery(query);
    for (const auto& [document, score] : results.items()) {
      added.results.push_back({run.Keep(document), score.get<double>()});
    }
  }
  return run;
}

inline data::Qrels QrelsOf(const nlohmann::json& golden) {
  data::Qrels qrels;
  for (const auto& [query, judgements] : golden["qrels"].items()) {
    for (const auto& [document, grade] : judgements.items()) {
      qrels.Add(query, document, grade.get<double>());
    }
  }
  return qrels;
}

}  // namespace tandem::eval
