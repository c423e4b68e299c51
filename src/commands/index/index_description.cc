#include "commands/index/index_description.h"

#include <fmt/format.h>

#include <filesystem>

#include "index/folder/index_info.h"
#include "index/segments/segment.h"

namespace tandem::app {

std::optional<index::MeasuredRecall> MeasuredRecallOf(const std::string& folder,
                                                      const index::SegmentRecord& segment) {
  if (segment.choice.kind->exact) return std::nullopt;
  for (const index::IndexFile& file : segment.files) {
    const auto measured =
        index::ReadMeasured(std::filesystem::path(folder) / segment.name / file.name);
    if (measured) return measured;
  }
  return std::nullopt;
}

namespace {

Json FieldsOf(const index::IndexInfo& info) {
  Json fields = Json::array();
  for (const data::MetadataField& field : info.fields) {
    fields.push_back({{"name", field.name}, {"type", data::MetadataTypeName(field.type)}});
  }
  return fields;
}

Json SegmentsOf(const std::string& folder, const index::Manifest& manifest) {
  Json segments = Json::array();
  for (const index::SegmentRecord& segment : manifest.segments) {
    Json described = {{"name", segment.name},
                      {"kind", segment.choice.kind->name},
                      {"documents", segment.live()},
                      {"removed", segment.removed}};
    if (const auto measured = MeasuredRecallOf(folder, segment)) {
      described["recall_at_10"] = measured->recall;
      described["effort"] = measured->effort;
    }
    segments.push_back(described);
  }
  return segments;
}

}  // namespace

Json DescribeIndex(const std::string& folder, const index::Manifest& manifest) {
  const index::IndexInfo info = index::InfoOf(folder, manifest);
  const index::IndexModel& model = info.model;
  Json described = {{"path", model.path},
                    {"fingerprint", fmt::format("{:016x}", model.fingerprint)},
                    {"similarity", model.similarity},
                    {"width", model.width},
                    {"precision", model.precision}};
  if (model.max_document_tokens) described["max_document_tokens"] = *model.max_document_tokens;
  if (model.dimensions) described["dimensions"] = *model.dimensions;
  return {{"model", described},
          {"kind", info.kind},
          {"parameters", info.parameters},
          {"fields", FieldsOf(info)},
          {"texts", info.texts},
          {"min_probability", info.min_probability ? Json(*info.min_probability) : Json()},
          {"documents", info.documents},
          {"removed", info.removed},
          {"file_bytes", info.file_bytes},
          {"resident_bytes", info.resident_bytes},
          {"segments", SegmentsOf(folder, manifest)}};
}

}  // namespace tandem::app
