"""The alphabet of `view`: escaping, chips, tables, highlighted code and JSON, and the one style sheet.

Colours come from JupyterLab's theme variables where there are any, else they are chosen to be readable on
white and on black. Every text of a record goes through `escape` or through the highlighter, which escapes
too. This module knows no record.
"""

import html
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import JsonLexer, PythonLexer, TextLexer

LIMIT = 20_000
"""Characters of one value that are shown; a page must stay usable when a reply is a megabyte."""
INLINE = 300
"""Characters of a value inside a line of text; the rest opens on a click."""

# `--es-*` on the left, so that a theme's variable or the fallback is named once and used everywhere.
STYLE = """<style>
.es{--es-line:var(--jp-border-color2,#8886);--es-soft:var(--jp-content-font-color2,#777);
--es-key:var(--jp-mirror-editor-keyword-color,#2f8a3c);--es-str:var(--jp-mirror-editor-string-color,#c0504d);
--es-num:var(--jp-mirror-editor-number-color,#1f8a70);--es-com:var(--jp-mirror-editor-comment-color,#6a8a8a);
--es-def:var(--jp-mirror-editor-def-color,#3d7edb);font-size:13px;line-height:1.45;max-width:1100px;
text-align:left;color:var(--jp-ui-font-color1,inherit);font-family:var(--jp-ui-font-family,system-ui,sans-serif)}
.es h4{margin:10px 0 3px;font-size:13px;font-weight:600}
.es pre{margin:0;padding:6px 8px;border:1px solid var(--es-line);border-radius:4px;overflow:auto;
max-height:420px;font-family:var(--jp-code-font-family,monospace);font-size:12px;line-height:1.4;white-space:pre;background:none;
color:inherit}
.es pre.es-wrap{white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal}
.es .es-prose{white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0;max-width:90ch}
.es p{margin:4px 0}
.es .k,.es .kn,.es .kd,.es .kc,.es .ow,.es .kr{color:var(--es-key);font-weight:600}
.es .s,.es .s1,.es .s2,.es .sd,.es .sa,.es .si,.es .sb{color:var(--es-str)}
.es .mi,.es .mf,.es .mh,.es .il{color:var(--es-num)}.es .c1,.es .c{color:var(--es-com);font-style:italic}
.es .nf,.es .nc,.es .nd,.es .nt{color:var(--es-def)}
.es .hll{display:block;background:rgba(255,190,0,.16);box-shadow:inset 3px 0 #e69f00}
.es .linenos{color:var(--es-soft);user-select:none;padding-right:10px}
.es table.es-t{border-collapse:collapse;margin:2px 0;font-size:12px}
.es table.es-t th,.es table.es-t td{border-bottom:1px solid var(--es-line);padding:2px 8px;text-align:left;
vertical-align:top;overflow-wrap:anywhere;word-break:normal;background:none}
.es table.es-t td+td{min-width:90px}.es table.es-t td.es-n{min-width:0}
.es table.es-t th{overflow-wrap:normal;white-space:nowrap}.es table.es-t td:first-child{overflow-wrap:break-word}
.es table.es-t td.es-n,.es table.es-t th.es-n{text-align:right;font-variant-numeric:tabular-nums}
.es .es-add{background:rgba(0,158,115,.20)}.es .es-del{background:rgba(213,94,0,.20)}
.es .es-soft{color:var(--es-soft)}
.es .es-chip{display:inline-block;padding:0 8px;border-radius:9px;font-size:12px;font-weight:600;
line-height:1.5;white-space:nowrap}
.es .es-turn{border-left:3px solid var(--es-line);margin:7px 0;padding:0 0 0 9px}
.es details>summary{cursor:pointer;color:var(--es-soft)}.es details.es-long>summary{color:inherit}
.es pre,.es code,.es td,.es summary{unicode-bidi:isolate}
.es code{background:none;padding:0;color:inherit}.es .es-name{white-space:nowrap}
.es table.es-t tr,.es table.es-lights tr{background:none}
.es .es-grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:0 18px}
.es .es-grid>div{min-width:0}.es:has(.es-grid){max-width:1700px}
.es .es-head{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:baseline;padding:2px 0 4px;
border-bottom:1px solid var(--es-line)}
.es .es-scroll{overflow-x:auto;width:0;min-width:100%}
.es table.es-lights{border-collapse:separate;border-spacing:0;font-size:12px;margin:2px 0}
.es table.es-lights th,.es table.es-lights td{padding:1px 0;text-align:center;min-width:24px;font-weight:400;
background:none;border:0;border-left:2px solid transparent;border-right:2px solid transparent}
.es table.es-lights th{padding:1px 4px}
.es table.es-lights td:first-child,.es table.es-lights th:first-child{text-align:left;max-width:400px;
position:sticky;left:0;background:var(--jp-layout-color0,Canvas);padding:2px 10px 2px 0}
.es .es-two{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
overflow-wrap:anywhere}
.es table.es-lights tr:last-child td{font-size:11px;padding:1px 2px}
.es table.es-lights .es-here{border-color:var(--jp-brand-color1,#0072b2);background:rgba(0,114,178,.10)}
.es .es-light{display:inline-block;width:16px;height:16px;line-height:16px;border-radius:8px;font-size:11px;
font-weight:700;text-align:center}
[data-jp-theme-light=false] .es{--es-com:#7fb3b3;--es-def:#64b5f6}
[data-jp-theme-light=false] :is(.es-keyed,.es-playground){--jp-widgets-dropdown-arrow:url("data:image/svg+xml,\
%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E%3Cpath fill='%23ddd' \
d='M5.2,5.9L9,9.7l3.8-3.8l1.2,1.2l-4.9,5l-4.9-5L5.2,5.9z'/%3E%3C/svg%3E")}
</style>"""

# Background and text of a chip: both fixed, so that they read alike in a light and in a dark theme.
CHIPS = {
    "pass": ("✓", "#007f5c", "#fff"),
    "warning": ("!", "#e69f00", "#000"),
    "fail": ("✗", "#c24a00", "#fff"),
    "good": ("", "#007f5c", "#fff"),
    "doubtful": ("", "#e69f00", "#000"),
    "bad": ("", "#c24a00", "#fff"),
    "read": ("", "#0072b2", "#fff"),
    "write": ("", "#8a3f74", "#fff"),
    "plain": ("", "#6b6b6b", "#fff"),
}


def plain(text: str) -> str:
    """The text without what no page can hold: NUL is shown as ␀, half a character as a question mark."""
    return text.replace("\0", "␀").encode("utf-8", "replace").decode("utf-8")


def escape(value: Any) -> str:
    """The text of a value, safe inside HTML and inside an attribute."""
    return html.escape(plain(str(value)))


class Html(str):
    """A string that a notebook shows as the HTML it is."""

    def _repr_html_(self) -> str:
        return str(self)


def page(*parts: str) -> Html:
    """Parts under each other with the style sheet they need, ready to be the last line of a cell."""
    return Html(f"{STYLE}<div class='es'>{''.join(parts)}</div>")


def titled(title: str, body: str) -> str:
    """A part with its small heading; nothing when there is no body."""
    return f"<h4>{escape(title)}</h4>{body}" if body else ""


def soft(text: Any) -> str:
    """A remark in the background."""
    return f"<span class='es-soft'>{escape(text)}</span>"


def grid(*parts: str) -> str:
    """Parts beside each other where there is room, else under each other."""
    return f"<div class='es-grid'>{''.join(f'<div>{part}</div>' for part in parts)}</div>"


def folded(summary: str, body: str) -> str:
    """A part that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def chip(text: str, look: str = "plain") -> str:
    """A small coloured label; its looks are the keys of `CHIPS`, and its words say what its colour says."""
    sign, back, front = CHIPS.get(look, CHIPS["plain"])
    label = f"{sign} {text}".strip()
    return f"<span class='es-chip' style='background:{back};color:{front}'>{escape(label)}</span>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table of cells that are HTML already; `numbers` are the columns set flush right."""
    right = set(numbers)

    def line(cells: Sequence[str], tag: str) -> str:
        shown = (f"<{tag}{' class=es-n' if i in right else ''}>{c}</{tag}>" for i, c in enumerate(cells))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table class='es-t'>{line([escape(name) for name in head], 'th')}{body}</table>"


def shorten(text: str, limit: int = LIMIT) -> str:
    """The beginning of a long text, saying how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}\n… ({len(text):,} characters in all)"


def as_json(value: Any, indent: int | None = 1) -> str:
    """A value as JSON that people read: letters of every language as they are."""
    return plain(json.dumps(value, ensure_ascii=False, indent=indent, default=repr))


def json_block(value: Any) -> str:
    """A value as highlighted JSON; a long one is cut, and then shown without colours."""
    text = as_json(value)
    lexer = JsonLexer() if len(text) <= LIMIT else TextLexer()
    inner = highlight(shorten(text), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    return f"<pre class='es-wrap'>{inner}</pre>"


def inline_json(value: Any, sign: str = "") -> str:
    """A value as JSON on one line, escaped; a long one opens on a click. A `sign` stands in front of it."""
    text = as_json(value, indent=None)
    lead = f"{sign}\N{NO-BREAK SPACE}" if sign else ""
    if len(text) <= INLINE:
        return f"<code>{lead}{escape(text)}</code>"
    head = f"<code>{lead}{escape(text[:INLINE])}…</code> {soft(f'{len(text):,} characters')}"
    return f"<details class='es-long'><summary>{head}</summary>{text_block(text)}</details>"


def name_html(name: str) -> str:
    """A name out of code; a short one is not broken over two lines."""
    look = " class='es-name'" if len(name) <= 40 else ""
    return f"<code{look}>{escape(shorten(name, 200))}</code>"


def text_block(text: str) -> str:
    """A text as it is, lines kept."""
    return f"<pre class='es-wrap'>{escape(shorten(text))}</pre>"


def prose_block(text: str) -> str:
    """A text that somebody says: in the letters of the page, lines kept."""
    return f"<div class='es-prose'>{escape(shorten(text))}</div>"


@lru_cache(maxsize=256)
def code_block(source: str, first_line: int = 1, marked: tuple[int, int] | None = None) -> str:
    """Python source with line numbers; the lines from `marked[0]` to `marked[1]` (as numbered) stand out."""
    rows = (
        highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
        .removesuffix("\n")
        .split("\n")
    )
    width = len(str(first_line + len(rows)))
    lines = []
    for number, row in enumerate(rows, start=first_line):
        line = f"<span class='linenos'>{number:>{width}}</span>{row}\n"
        # The mark is a block, and a block's last line end adds no line: marked lines stay dense.
        lines.append(
            f"<span class='hll'>{line}</span>" if marked and marked[0] <= number <= marked[1] else line
        )
    return f"<pre>{''.join(lines)}</pre>"
