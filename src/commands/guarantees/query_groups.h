// Groups of queries by a field of queries.jsonl: the flag --by of `tandem calibrate`, and
// --group-by of `tandem evaluate`.
#pragma once

#include <map>
#include <string>

namespace tandem::app {

// The value of field `by`, of its own or in `metadata`, of every query of the BEIR folder that has
// it, by the query's id: a string, an integer as its digits, "true" or "false"; a null is none.
// Throws UsageError where none has it, DataError as data::TextInput, also for other values.
std::map<std::string, std::string> QueryGroups(const std::string& folder, const std::string& by);

}  // namespace tandem::app
