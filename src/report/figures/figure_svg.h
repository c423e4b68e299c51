// gnuplot's SVG as a page or a file takes it.
#pragma once

#include <string>
#include <string_view>

#include "report/figures/figure.h"
#include "report/page/html.h"

namespace tandem::report {

enum class Colours {
  kOfPage,  // CSS variables: --figure-ink, --figure-faint, --figure-0 ... --figure-5
  kLight    // fixed ones on white, for programs that know no CSS
};

// Reads what gnuplot drew for GnuplotScript(figure) and writes it anew, element by element: only
// shapes and words stay, with their geometry; colours become those asked for; nothing refers to
// anything by id, so that many figures can stand in one page. `kOfPage` is an <svg> with
// role="img" that is labelled by its <title> and <desc>, `kLight` a whole file. The same figure
// gives the same bytes. Throws Error (exit code 1) for what is no such SVG.
std::string FigureSvg(const Figure& figure, std::string_view drawn, Colours colours);

// The figure drawn by gnuplot, in both forms. Throws as RunGnuplot does.
struct DrawnFigure {
  Markup inlined;
  std::string file;
};
DrawnFigure DrawFigure(const Figure& figure);

}  // namespace tandem::report
