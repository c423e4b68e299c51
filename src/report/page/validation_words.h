// Says what a run was validated on, beside what its models were measured on: a curve and a table of
// one measure are of two sets of queries, and a reader who does not know it finds them to differ.
#pragma once

#include <string>

#include "report/page/page_parts.h"

namespace tandem::report {

// "51 queries that were held out of the training data (pairs), ranked among 500 of 1,811
// documents"; "400 queries of packages, split dev". Without numbers that an earlier version did not
// write down. "" where the run has no recipe to read, or none that validates.
std::string ValidationWords(const RunRecord& run);
std::string ValidationWords(const ValidationFacts& facts);

// Says whether the queries of `dataset` chose the best step of the run.
bool ChoseTheStep(const RunRecord& run, const DatasetFacts& dataset);

// What follows the captions of the tables of measures and the words below the figures of
// validation, one of each group; "" without a run that says what it was validated on.
std::string BesideValidation(const ReportInput& input, const DatasetFacts& dataset);
std::string BesideMeasures(const ReportInput& input);

}  // namespace tandem::report
