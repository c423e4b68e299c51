#include "report/figures/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <pugixml.hpp>
#include <sstream>

#include "base/error.h"
#include "report/figures/figure_script.h"
#include "report/figures/gnuplot.h"

namespace tandem::report {
namespace {

// The palette on white, where every colour has a contrast of at least 4.5; page.css has both the
// light and the dark one as variables. All are told apart by people who are colour-blind.
constexpr std::array<const char*, kColours> kLightPalette = {"#7a6a5d", "#1b63b0", "#b0480a",
                                                             "#0f7556", "#8a3f9c", "#6b6a00"};
constexpr const char* kLightInk = "#33322e";
constexpr const char* kLightFaint = "#e4e1da";

[[noreturn]] void Fail(const std::string& message) {
  throw Error(ExitCode::kInternal, "gnuplot drew something unexpected: " + message);
}

// The colour that stands for rgb(red, 1, 1).
std::string ColourOf(int red, Colours colours) {
  const bool page = colours == Colours::kOfPage;
  if (red == kInkRed) return page ? "var(--figure-ink)" : kLightInk;
  if (red == kFaintRed) return page ? "var(--figure-faint)" : kLightFaint;
  const int index = red - kFirstRed;
  if (index < 0 || index >= static_cast<int>(kColours)) Fail(fmt::format("a colour {}", red));
  return page ? fmt::format("var(--figure-{})", index) : kLightPalette[static_cast<size_t>(index)];
}

// "rgb( 17,   1,   1)" by its first number; other words stay as they are.
std::string Recoloured(std::string_view value, Colours colours) {
  if (!value.starts_with("rgb(")) return std::string(value);
  const size_t digit = value.find_first_of("0123456789");
  int red = 0;
  if (digit != std::string_view::npos) {
    std::from_chars(value.data() + digit, value.data() + value.size(), red);
  }
  return ColourOf(red, colours);
}

std::string OnOneLine(std::string_view value) {
  std::string line;
  for (const char c : value) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

constexpr std::array<std::string_view, 6> kShapes = {"path",   "polygon", "polyline",
                                                     "circle", "rect",    "line"};
constexpr std::array<std::string_view, 16> kGeometry = {
    "d",      "points", "cx", "cy", "r",  "x",         "y",           "width",
    "height", "x1",     "y1", "x2", "y2", "transform", "text-anchor", "fill-opacity"};
constexpr std::array<std::string_view, 3> kStyle = {"stroke-width", "stroke-dasharray",
                                                    "stroke-linejoin"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class SvgWriter {
 public:
  explicit SvgWriter(Colours colours) : colours_(colours) {}

  void Children(const pugi::xml_node& from, pugi::xml_node& to) {
    for (const pugi::xml_node& child : from.children()) Node(child, to);
  }

 private:
  void Node(const pugi::xml_node& from, pugi::xml_node& to) {
    const std::string_view name = from.name();
    if (name == "g") {
      Group(from, to);
    } else if (name == "text") {
      Words(from, to);
    } else if (name == "use") {
      Dot(from, to);
    } else if (Contains(kShapes, name)) {
      pugi::xml_node shape = to.append_child(from.name());
      Attributes(from, shape);
    } else if (name != "title" && name != "desc" && name != "defs" && !name.empty()) {
      Fail(fmt::format("an element {}", name));
    }
  }

  // gnuplot opens a group for each state of its pen; those that hold nothing are left out.
  void Group(const pugi::xml_node& from, pugi::xml_node& to) {
    pugi::xml_node group = to.append_child("g");
    Attributes(from, group);
    Children(from, group);
    if (!group.first_child()) to.remove_child(group);
  }

  void Words(const pugi::xml_node& from, pugi::xml_node& to) {
    std::string words;
    for (const pugi::xml_node& child : from.children()) {
      if (child.type() == pugi::node_pcdata) words += child.value();
    }
    pugi::xml_node node = to.append_child("text");
    Attributes(from, node);
    node.text().set(OnOneLine(CleanText(words)).c_str());
  }

  // A filled dot, which gnuplot writes as a reference to a symbol.
  void Dot(const pugi::xml_node& from, pugi::xml_node& to) {
    double x = 0;
    double y = 0;
    double radius = 0;
    const std::string_view symbol = from.attribute("xlink:href").value();
    if (symbol != "#gpPt6" || std::sscanf(from.attribute("transform").value(),
                                          "translate(%lf,%lf) scale(%lf)", &x, &y, &radius) != 3) {
      Fail(fmt::format("a symbol {}", symbol));
    }
    pugi::xml_node dot = to.append_child("circle");
    dot.append_attribute("cx") = fmt::format("{:.2f}", x).c_str();
    dot.append_attribute("cy") = fmt::format("{:.2f}", y).c_str();
    dot.append_attribute("r") = fmt::format("{:.2f}", radius).c_str();
    dot.append_attribute("fill") = Recoloured(from.attribute("color").value(), colours_).c_str();
    dot.append_attribute("stroke") = "none";
  }

  void Attributes(const pugi::xml_node& from, pugi::xml_node& to) {
    for (const pugi::xml_attribute& attribute : from.attributes()) {
      const std::string_view name = attribute.name();
      std::string value = OnOneLine(attribute.value());
      if (name == "stroke" || name == "fill") {
        value = Recoloured(value, colours_);
      } else if (!Contains(kGeometry, name) && !Contains(kStyle, name)) {
        continue;
      }
      to.append_attribute(attribute.name()) = value.c_str();
    }
  }

  Colours colours_;
};

void AddLabels(const Figure& figure, Colours colours, pugi::xml_node& svg) {
  if (colours == Colours::kOfPage) {
    svg.append_attribute("role") = "img";
    svg.append_attribute("aria-labelledby") =
        fmt::format("{0}-title {0}-desc", figure.name).c_str();
    svg.append_attribute("data-plot") =
        [&] {
          const PlotArea area = AreaOf(figure);
          const AxisRange x = RangeOfX(figure);
          return fmt::format("{:.6g} {:.6g} {:.6g} {:.6g} {:.9g} {:.9g} {}", area.left, area.right,
                             area.top, area.bottom, x.low, x.high,
                             figure.x.logarithmic ? "log" : "linear");
        }()
            .c_str();
  }
  pugi::xml_node title = svg.append_child("title");
  pugi::xml_node description = svg.append_child("desc");
  if (colours == Colours::kOfPage) {
    title.append_attribute("id") = (figure.name + "-title").c_str();
    description.append_attribute("id") = (figure.name + "-desc").c_str();
  }
  title.text().set(CleanText(figure.title).c_str());
  description.text().set(CleanText(figure.description).c_str());
}

pugi::xml_node AddRoot(const Figure& figure, Colours colours, pugi::xml_document& document) {
  const PlotArea area = AreaOf(figure);
  pugi::xml_node svg = document.append_child("svg");
  if (colours == Colours::kLight) {
    svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
    svg.append_attribute("width") = area.width;
    svg.append_attribute("height") = area.height;
  }
  svg.append_attribute("viewBox") =
      fmt::format("0 0 {:.6g} {:.6g}", area.width, area.height).c_str();
  svg.append_attribute("font-family") = "system-ui, sans-serif";
  svg.append_attribute("font-size") = "12";
  AddLabels(figure, colours, svg);
  if (colours == Colours::kLight) {
    pugi::xml_node paper = svg.append_child("rect");
    paper.append_attribute("width") = "100%";
    paper.append_attribute("height") = "100%";
    paper.append_attribute("fill") = "#ffffff";
  }
  return svg;
}

}  // namespace

std::string FigureSvg(const Figure& figure, std::string_view drawn, Colours colours) {
  pugi::xml_document read;
  const pugi::xml_parse_result result = read.load_buffer(drawn.data(), drawn.size());
  const pugi::xml_node canvas =
      read.child("svg").find_child_by_attribute("g", "id", "gnuplot_canvas");
  if (!result || !canvas) Fail(result ? "no canvas" : result.description());
  pugi::xml_document written;
  pugi::xml_node svg = AddRoot(figure, colours, written);
  // The first shape of the canvas is its background, which the page decides.
  pugi::xml_document copy;
  pugi::xml_node shapes = copy.append_copy(canvas);
  shapes.remove_child("rect");
  SvgWriter(colours).Children(shapes, svg);
  std::ostringstream text;
  written.save(text, "",
               pugi::format_raw | pugi::format_no_declaration | pugi::format_no_empty_element_tags,
               pugi::encoding_utf8);
  return text.str();
}

DrawnFigure DrawFigure(const Figure& figure) {
  const std::string drawn = RunGnuplot(GnuplotScript(figure));
  return {.inlined = {FigureSvg(figure, drawn, Colours::kOfPage)},
          .file = FigureSvg(figure, drawn, Colours::kLight) + "\n"};
}

}  // namespace tandem::report
