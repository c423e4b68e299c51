// What `tandem compare` knows of where its models come from: runs of training, and folders of
// several runs that differ in their seed (`tandem train --seeds`).
#pragma once

#include <string>
#include <vector>

namespace tandem::app {

// The model folders of the runs `seed-N` in a folder, in the order of their numbers; none if it is
// no such folder. Throws UsageError if one of the runs has not finished.
std::vector<std::string> ModelsOfSeeds(const std::string& folder);

// Says what the comparison of these systems is about: of recipes, if each is a folder of several
// seeds; else of models, where some come from runs. "" where no system comes from training.
std::string WhatIsCompared(const std::vector<std::string>& systems);

}  // namespace tandem::app
