#include "data/formats/beir_lines.h"

#include <fmt/format.h>

#include <iterator>

#include "data/lines/json_text.h"

namespace tandem::data {

void AppendBeirDocument(std::string& out, std::string_view id, std::string_view title,
                        std::string_view text) {
  out += R"({"_id": )";
  AppendJsonString(out, id);
  out += R"(, "title": )";
  AppendJsonString(out, title, id);
  out += R"(, "text": )";
  AppendJsonString(out, text, id);
  out += "}\n";
}

void AppendBeirQuery(std::string& out, std::string_view id, std::string_view text) {
  out += R"({"_id": )";
  AppendJsonString(out, id);
  out += R"(, "text": )";
  AppendJsonString(out, text, id);
  out += "}\n";
}

void AppendBeirJudgement(std::string& out, std::string_view query, std::string_view document,
                         double grade) {
  fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\n", query, document, grade);
}

}  // namespace tandem::data
