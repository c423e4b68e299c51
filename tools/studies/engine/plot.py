"""The figure of a study: how each arm differs from the one that it is compared with, with intervals."""

import html
import math

WIDTH, LEFT, RIGHT, ROW = 760, 300, 24, 22
FONT = 'font-family="sans-serif" font-size="13"'


def ticks(low, high):
    """At most eight round numbers from low to high."""
    span = high - low
    power = 10 ** math.floor(math.log10(span / 6))
    distance = next(times * power for times in (1, 2, 5, 10) if span / (times * power) <= 7)
    first = math.ceil(low / distance - 1e-9)
    return [at * distance for at in range(first, math.floor(high / distance + 1e-9) + 1)], distance


def fitted(text, most=40):
    return text if len(text) <= most else text[:most - 1].rstrip() + "…"


def forest(title, groups):
    """SVG of `groups`: (heading, [(label, difference, low, high)]). Intervals that leave out 0 are filled."""
    values = [value for _, rows in groups for row in rows for value in row[1:]] + [0.0]
    margin = (max(values) - min(values) or 1.0) * 0.05
    low, high = min(values) - margin, max(values) + margin
    height = 30 + sum(ROW * (len(rows) + 1) + 6 for _, rows in groups) + 46

    def place(value):
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" {FONT}>',
             f"<title>{html.escape(title)}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
             f'<text x="12" y="20" font-weight="bold">{html.escape(fitted(title, 96))}</text>']
    y, bottom = 30, height - 46
    marks, distance = ticks(low, high)
    digits = max(0, -math.floor(math.log10(distance)))
    for mark in marks:
        said = f"{mark:+.{digits}f}" if abs(mark) > distance / 2 else "0"
        parts.append(f'<path d="M{place(mark):.1f} 30V{bottom}" stroke="#e4e4e4"/>'
                     f'<text x="{place(mark):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#444">'
                     f"{said}</text>")
    parts.append(f'<path d="M{place(0):.1f} 30V{bottom}" stroke="#888"/>')
    for heading, rows in groups:
        y += ROW
        parts.append(f'<text x="12" y="{y - 5}" fill="#444">{html.escape(fitted(heading, 44))}</text>')
        for label, value, one, other in rows:
            y += ROW
            seen = not one <= 0 <= other
            colour = "#888" if not seen else "#1a7f37" if value > 0 else "#c62828"
            parts.append(f'<text x="{LEFT - 12}" y="{y - 5}" text-anchor="end">{html.escape(fitted(label))}</text>'
                         f'<path d="M{place(one):.1f} {y - 9.5}H{place(other):.1f}" stroke="{colour}" '
                         f'stroke-width="2"/><circle cx="{place(value):.1f}" cy="{y - 9.5}" r="4.5" '
                         f'fill="{colour if seen else "#fff"}" stroke="{colour}" stroke-width="1.5"/>')
        y += 6
    parts.append(f'<text x="{LEFT}" y="{height - 8}" fill="#444">difference, with 95 % intervals; filled: the '
                 "interval leaves out 0</text></svg>")
    return "\n".join(parts) + "\n"
