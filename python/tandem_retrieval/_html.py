"""Short tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], remarks: Iterable[str] = ()) -> str:
    """An HTML table; numbers are for the caller to format. `head` may be empty."""
    from html import escape  # here, since few programs show tables, and every import would pay for it

    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>")
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>", *(f"<p>{escape(remark)}</p>" for remark in remarks)])
