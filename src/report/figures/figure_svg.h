// Figures as SVG.
#pragma once

#include <string>

#include "report/figures/figure.h"
#include "report/page/html.h"

namespace tandem::report {

// The figure in a page: an <svg> with role="img" that is labelled by its <title> and <desc>. Its
// ids start with the figure's name, and nothing refers to anything else by id, so that many figures
// can stand in one page. Colours are CSS variables of the page: --figure-ink, --figure-faint,
// --figure-0
// ... --figure-5. `data-plot` says where the axes are, for the page's script.
Markup InlineSvg(const Figure& figure);

// The figure as a file, with fixed colours on white, for programs that know no CSS.
std::string SvgFile(const Figure& figure);

}  // namespace tandem::report
