// The document around the sections.
#include <fmt/format.h>

#include <charconv>

#include "base/base64.h"
#include "report/page/page_assets.h"
#include "report/page/page_parts.h"

namespace tandem::report {
namespace {

// Says how a content security policy names what it allows: 'sha256-BASE64'.
std::string SourceOf(const PageAsset& asset) {
  std::string bytes;
  for (size_t i = 0; i + 1 < asset.sha256.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(asset.sha256.data() + i, asset.sha256.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return fmt::format("'sha256-{}'", EncodeBase64(bytes));
}

void AddHead(const PageFrame& frame, Html& html) {
  html.In("head", [&] {
    html.Void("meta", {{"charset", "utf-8"}});
    html.Void("meta",
              {{"http-equiv", "Content-Security-Policy"},
               {"content", fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri "
                                       "'none'; form-action 'none'",
                                       SourceOf(kPageStyle), SourceOf(kPageScript))}});
    html.Void("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html.Void("meta", {{"name", "generator"}, {"content", frame.generator}});
    html.Void("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    html.Element("title", frame.title);
    html.In("style", [&] { html.Add({std::string(kPageStyle.text)}); });
  });
  html.Break();
}

void AddContents(const Page& page, Html& html) {
  html.In("nav", {{"aria-label", "Contents"}}, [&] {
    html.In("ul", [&] {
      for (const auto& entry : page.contents()) {  // clang captures no parts of a binding
        html.In("li", [&] { html.Element("a", {{"href", "#" + entry.first}}, entry.second); });
      }
      if (!page.missing().empty()) {
        html.In("li", [&] { html.Element("a", {{"href", "#missing"}}, "What is missing"); });
      }
    });
  });
  html.Break();
}

void AddMissingList(const Page& page, Html& html) {
  if (page.missing().empty()) return;
  html.In("section", {{"id", "missing"}, {"aria-labelledby", "missing-heading"}}, [&] {
    html.Element("h2", {{"id", "missing-heading"}}, "What is missing");
    html.In("ul", [&] {
      for (const std::string& sentence : page.missing()) html.Element("li", sentence);
    });
  });
}

std::string Subtitle(const ReportInput& input) {
  std::string names;
  for (const RunRecord& run : input.runs) names += (names.empty() ? "" : ", ") + run.name;
  if (input.runs.empty()) return fmt::format("{} evaluations", input.evaluations.size());
  if (input.runs.size() == 1 && !input.runs.front().recipe.empty()) {
    const auto fact = [&](std::string_view name) -> std::string {
      for (const Fact& one : input.runs.front().recipe) {
        if (one.name == name) return one.value;
      }
      return "-";
    };
    return fmt::format("{}, trained with {} on {}", fact("base model"), fact("objective"),
                       fact("training data"));
  }
  return fmt::format("{} {}; {} evaluation{}", input.runs.size() == 1 ? "run" : "runs", names,
                     input.evaluations.size(), input.evaluations.size() == 1 ? "" : "s");
}

}  // namespace

std::string PageDocument(const PageFrame& frame, const Page& page) {
  Html html;
  html.Add({"<!DOCTYPE html>\n"});
  html.In("html", {{"lang", "en"}}, [&] {
    AddHead(frame, html);
    html.In("body", [&] {
      html.Element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the report");
      html.In("header", [&] {
        html.Element("h1", frame.title);
        html.Element("p", frame.subtitle);
      });
      AddContents(page, html);
      html.In("main", {{"id", "main"}}, [&] {
        html.Add({page.html().bytes()});
        AddMissingList(page, html);
      });
      html.Element("footer", frame.footer);
      html.In("script", [&] { html.Add({std::string(kPageScript.text)}); });
    });
  });
  return html.bytes() + "\n";
}

std::string PageDocument(const ReportInput& input, const Page& page) {
  return PageDocument(
      {.title = input.title,
       .subtitle = Subtitle(input),
       .generator = "tandem report",
       .footer = "Written by tandem report. Each figure lies beside this page as figures/NAME.tsv "
                 "and figures/NAME.svg."},
      page);
}

}  // namespace tandem::report
