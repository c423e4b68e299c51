#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/version.h"

namespace tandem::app {
namespace {

std::string Bold(const std::string& text) { return "\\fB" + ManText(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + ManText(text) + "\\fR"; }

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// Returns "tandem-train" for "tandem train".
std::string PageName(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string Heading(const CommandDescription& command) {
  const std::string page = PageName(command.name);
  return fmt::format(
      ".\\\" Written by tandem help --format man.\n"
      ".TH {} 1 \"\" \"tandem {}\" \"Tandem\"\n"
      ".SH NAME\n{} \\- {}\n",
      ManText(Upper(page)), Version(), ManText(page), ManText(command.summary));
}

// Formats "--format text|json": names are typed as they are, and words in capitals are
// placeholders.
std::string FlagLine(const FlagDescription& flag) {
  if (flag.argument) return Italic(flag.Synopsis());
  std::string line;
  for (const std::string& name : flag.names) line += (line.empty() ? "" : ", ") + Bold(name);
  return flag.value.empty() ? line : line + " " + Italic(flag.value);
}

std::string Synopsis(const CommandDescription& command) {
  std::string line = Bold(command.name);
  if (!command.commands.empty()) line += " " + Italic("COMMAND");
  for (const FlagDescription& flag : command.flags) {
    const std::string more = flag.argument && flag.repeated ? "..." : "";
    if (flag.required) line += " " + FlagLine(flag) + more;
    if (!flag.required && flag.argument) line += " [" + FlagLine(flag) + more + "]";
  }
  return line + " [" + Italic("flags") + "]\n";
}

std::string ManEntry(const std::string& name, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", name, ManText(text));
}

// Formats the arguments, or the flags that are not arguments, after `heading` (.SH or .SS).
std::string FlagEntries(const CommandDescription& command, bool arguments,
                        std::string_view heading) {
  std::string text;
  for (const FlagDescription& flag : command.flags) {
    if (flag.argument == arguments) text += ManEntry(FlagLine(flag), flag.text);
  }
  return text.empty() ? "" : fmt::format("{}\n{}", heading, text);
}

std::string Footer(const CommandDescription& command) {
  return command.footer.empty() ? "" : fmt::format(".SH NOTES\n{}\n", ManText(command.footer));
}

std::string Examples(const CommandDescription& command, std::string_view heading) {
  std::string text;
  for (const Example& example : command.examples) {
    text += fmt::format("{}.\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n.PP\n",
                        ManText(std::string(example.what)), ManText(std::string(example.line)));
  }
  return text.empty() ? "" : fmt::format("{}\n{}", heading, text);
}

constexpr std::string_view kProgramEnd = R"(.SH EXIT STATUS
.TP
0
done
.TP
1
an error within Tandem
.TP
2
command line or recipe
.TP
3
data: corpora, queries, judgements, indexes; also a full disk
.TP
4
model or checkpoint
.TP
5
a loss or gradient that is not finite
.TP
6
a check that was asked for did not hold
.TP
130, 143
interrupted by SIGINT or SIGTERM, after what had to be kept was written
.SH ENVIRONMENT
.TP
.B TANDEM_CACHE
folder for embeddings that are needed again; set to nothing, none are kept
.TP
.B XDG_CACHE_HOME
its folder
.I tandem
is the cache where TANDEM_CACHE is not set; default
.I ~/.cache
.TP
.B NO_COLOR
where it is set, nothing is coloured
.TP
.B TANDEM_MESSAGES
set to json, each message on standard error is a JSON object on a line of its own
)";

}  // namespace

std::string ManText(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string ProgramManPage(const CommandDescription& program) {
  std::string page = Heading(program) + ".SH SYNOPSIS\n" + Synopsis(program) + ".SH COMMANDS\n";
  std::string see_also;
  for (const CommandDescription& command : program.commands) {
    page += ManEntry(Bold(command.ShortName()), command.summary);
    see_also +=
        fmt::format("{}.BR {} (1)", see_also.empty() ? "" : ",\n", ManText(PageName(command.name)));
  }
  page += FlagEntries(program, false, ".SH FLAGS");
  page += kProgramEnd;
  return page + ".SH SEE ALSO\n" + see_also + "\n";
}

std::string CommandManPage(const CommandDescription& command) {
  std::string page = Heading(command) + ".SH SYNOPSIS\n";
  if (command.commands.empty()) {
    page += Synopsis(command);
  } else {
    for (const CommandDescription& part : command.commands) page += Synopsis(part) + ".br\n";
  }
  page += FlagEntries(command, true, ".SH ARGUMENTS") + FlagEntries(command, false, ".SH FLAGS");
  for (const CommandDescription& part : command.commands) {
    page += fmt::format(".SH {}\n{}.\n", ManText(Upper(part.name)), ManText(part.summary));
    page += FlagEntries(part, true, ".SS Arguments") + FlagEntries(part, false, ".SS Flags");
    page += Examples(part, ".SS Examples");
  }
  return page + Footer(command) + Examples(command, ".SH EXAMPLES") +
         ".SH SEE ALSO\n.BR tandem (1)\n";
}

}  // namespace tandem::app
