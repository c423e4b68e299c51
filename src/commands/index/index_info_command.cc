// `tandem index info`: describes an index.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/byte_size.h"
#include "base/json/json.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "commands/index/index_description.h"
#include "index/folder/index_info.h"
#include "index/folder/manifest.h"
#include "index/segments/segment.h"

namespace tandem::app {
namespace {

struct InfoOptions {
  Globals globals;
  std::string index;
  std::string format = "text";
  bool verify = false;
};

void PrintText(const std::string& folder, const index::IndexInfo& info,
               const index::Manifest& manifest) {
  const auto line = [](std::string_view name, std::string_view value) {
    std::cout << fmt::format("{:<12} {}\n", name, value);
  };
  line("documents", info.removed == 0
                        ? fmt::format("{}", info.documents)
                        : fmt::format("{} ({} removed ones are in the files; tandem index compact "
                                      "drops them)",
                                      info.documents, info.removed));
  line("kind",
       info.parameters.empty() ? info.kind : fmt::format("{} ({})", info.kind, info.parameters));
  line("model", fmt::format("{} ({:016x})", info.model.path, info.model.fingerprint));
  line("vectors", fmt::format("{} numbers, {}, encoded in {}", info.model.width,
                              info.model.similarity, info.model.precision));
  line("texts", info.texts ? "kept" : "not kept");
  if (info.min_probability) {
    line("hits", fmt::format("of a probability of at least {}, unless a search asks for another",
                             *info.min_probability));
  }
  std::string fields;
  for (const data::MetadataField& field : info.fields) {
    fields += fmt::format("{}{}:{}", fields.empty() ? "" : ", ", field.name,
                          data::MetadataTypeName(field.type));
  }
  if (!fields.empty()) line("fields", fields);
  line("on disk", FormatByteSize(info.file_bytes));
  line("in memory", fmt::format("{} while searching", FormatByteSize(info.resident_bytes)));
  for (const index::SegmentRecord& segment : manifest.segments) {
    std::string recall;
    if (const auto measured = MeasuredRecallOf(folder, segment)) {
      recall =
          fmt::format(", recall {:.3f} measured at effort {}", measured->recall, measured->effort);
    }
    line(segment.name, fmt::format("{}, {} documents, {} removed{}", segment.choice.kind->name,
                                   segment.live(), segment.removed, recall));
  }
}

void Run(const InfoOptions& options) {
  const index::Manifest manifest = index::ReadManifest(options.index);
  if (options.verify)
    index::CheckAllFiles(options.index, manifest, true, ThreadsOf(options.globals));
  if (options.format == "json") {
    std::cout << DescribeIndex(options.index, manifest).Dump(2, JsonBytes::kReplace) << "\n";
  } else {
    PrintText(options.index, index::InfoOf(options.index, manifest), manifest);
  }
}

CommandBody ConfigureInfo(Flags& flags) {
  const auto options = std::make_shared<InfoOptions>();
  flags.Add("index", options->index, "Index, a folder").Required();
  flags.Add("--format", options->format, "text or json").OneOf({"text", "json"}).ShowDefault();
  flags.AddSwitch("--verify", options->verify, "Compare all files with their checksums");
  return [options](const Globals& globals) {
    options->globals = globals;
    Run(*options);
  };
}

constexpr Example kInfoExamples[] = {
    {"tandem index info mine.index", "Say what an index holds"},
    {"tandem index info mine.index --verify", "Compare all its files with their checksums, too"},
};

}  // namespace

extern const Command kIndexInfoCommand{
    {.name = "info", .summary = "Show what an index is"}, ConfigureInfo, kInfoExamples};

}  // namespace tandem::app
