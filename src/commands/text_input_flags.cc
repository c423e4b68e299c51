#include "commands/text_input_flags.h"

#include <utility>

#include "cli/flags.h"

namespace tandem::app {

void AddTextInputFlags(Flags& flags, TextInputFlags& input) {
  flags
      .Add("--format", input.format,
           "Format of the input: jsonl, tsv (the first line names the columns; nothing is quoted) "
           "or lines (each is a text, and its number the id); auto goes by each file's name: .tsv, "
           ".txt, else jsonl")
      .OneOf({"auto", "jsonl", "tsv", "lines"})
      .ShowDefault();
  flags
      .Add("--id-field", input.id_field,
           "Key or column of the ids; \"\": texts are numbered over all files, from 1")
      .ShowDefault();
  flags.Add("--text-field", input.text_field, "Key or column of the texts").ShowDefault();
}

void AddFieldFlag(Flags& flags, TextInputFlags& input) {
  flags
      .Add("--field", input.fields,
           "Metadata to keep, as NAME:number or NAME:string: a key of the lines or of their object "
           "\"metadata\", or a column; may be given several times")
      .OneValueEachTime();
}

data::TextInputOptions TextInputOptionsOf(const TextInputFlags& flags,
                                          std::vector<std::string> inputs, data::TextRole role) {
  return {.inputs = std::move(inputs),
          .format = flags.format,
          .role = role,
          .id_field = flags.id_field,
          .text_field = flags.text_field,
          .fields = data::ParseMetadataFields(flags.fields)};
}

}  // namespace tandem::app
