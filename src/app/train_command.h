// `tandem train`: options; the work is in train_run.cc.
#pragma once

#include <string>
#include <vector>

namespace tandem::app {

struct TrainOptions {
  std::string recipe;
  std::vector<std::string> sets;
  std::string output;
  bool resume = false;
  bool check = false;
};

}  // namespace tandem::app
