// The lines of a BEIR folder's files, for whoever writes one.
#pragma once

#include <string>
#include <string_view>

namespace tandem::data {

inline constexpr std::string_view kQrelsHeader = "query-id\tcorpus-id\tscore\n";

// Each appends a line with its end. Throws DataError naming `id` for a text that is not valid
// UTF-8.
void AppendBeirDocument(std::string& out, std::string_view id, std::string_view title,
                        std::string_view text);
void AppendBeirQuery(std::string& out, std::string_view id, std::string_view text);
// Ids without blanks at their ends and without control characters, which judgements cannot hold.
void AppendBeirJudgement(std::string& out, std::string_view query, std::string_view document,
                         double grade);

}  // namespace tandem::data
