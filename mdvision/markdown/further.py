"""Pictures in forms that CommonMark does not know, each read at a position of a text.

Wiki embeds (Obsidian), shortcodes (Hugo), directives (Microsoft Learn), and the attributes in
braces that may follow a picture. Every pattern stops where the next form of its kind begins, so
that many that are never closed cost no more than their length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mdvision.markdown.pictures import is_picture_name
from mdvision.markdown.spans import match_end

MARK = re.compile(r"\{\{[<%]|:::image[ \t\n]")
"""How a shortcode or a directive may begin."""

_WIKI = re.compile(r"!\[\[([^\[\]|#`<>\n]+)(#[^\[\]|`<>\n]*)?((?:\|[^\[\]|`<>\n]*)*)\]\]")
_SIZE = re.compile(r"[0-9]+(?:x[0-9]+)?")
_PARAMETERS = r"""(?:[^"`{}]|"(?:[^"\\]|\\.)*"|`[^`]*`)*?"""
_SHORTCODE = re.compile(
    rf"\{{\{{[<%][ \t\n]*([\w./-]+)(?=[ \t\n])({_PARAMETERS})[ \t\n]*/?[>%}}]\}}\}}", re.DOTALL
)
_PARAMETER = re.compile(
    r"""(?:([\w-]+)[ \t\n]*=[ \t\n]*)?(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|([^ \t\n"`=]+))""", re.DOTALL
)
_LEADING_CLOSE = re.compile(r"(\{\{<[^{}]*?\n[ \t]*/?)>(?=\}\})")
_OF_PICTURES = frozenset({"figure", "img", "image"})
_DIRECTIVE = re.compile(r':::image(?=[ \t\n])((?:[^:"]|"[^"]*"|:(?!::))*):::')
_DIRECTIVE_ATTRIBUTE = re.compile(r'([\w-]+)[ \t\n]*=[ \t\n]*"([^"]*)"')
_ATTRIBUTE = r"""(?:[#.][\w:.#-]+|[A-Za-z][\w:.-]*=(?:"[^"{}\n]*"|'[^'{}\n]*'|[^ \t\n"'{}=<>`]+))"""
_TAIL = re.compile(rf"\{{:?[ \t]*{_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*\}}")
_TEMPLATE_TARGET = re.compile(r"\(([^()\n]*\{[{%][^()\n]*)\)")


class Found(NamedTuple):
    """A picture, or a note that is embedded, and where its syntax ends."""

    end: int
    source: str
    title: str
    alt: str
    kind: str


def wiki_at(text: str, at: int) -> Found | None:
    """The wiki embed that begins at `at`, of a picture or of anything else.

    Behind a bar stands a size, which is dropped, or another text; what is behind `#` in the name is
    no part of it. In a table Obsidian escapes the bar.

    >>> wiki_at("![[a b.png#dark|Plan|300x200]]", 0)
    Found(end=30, source='a b.png', title='', alt='Plan', kind='wiki')
    """
    found = _WIKI.match(text, at)
    if not found or not (name := found[1].rstrip("\\").strip(" \t")):
        return None
    labels = (label.strip(" \t\\") for label in found[3].split("|"))
    alt = next((label for label in labels if label and not _SIZE.fullmatch(label)), "")
    return Found(found.end(), name, "", alt, "wiki")


def marked_at(text: str, at: int) -> Found | None:
    """The picture that a shortcode or a directive shows that begins at `at`."""
    return _shortcode_at(text, at) if text[at] == "{" else _directive_at(text, at)


def _shortcode_at(text: str, at: int) -> Found | None:
    """Of any shortcode whose `src` has a picture's name; of figure, img, image whatever the name.

    >>> _shortcode_at('{{< figure src="a.png" caption="A plan" >}}', 0)
    Found(end=43, source='a.png', title='', alt='A plan', kind='shortcode')
    """
    found = _SHORTCODE.match(text, at)
    if not found:
        return None
    named: dict[str, str] = {}
    for parameter in _PARAMETER.finditer(found[2]):
        quoted = parameter[2]
        bare = parameter[3] or parameter[4] or ""
        value = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        named.setdefault((parameter[1] or "").lower(), value)
    is_of_pictures = found[1].lower() in _OF_PICTURES
    source = (named.get("src") or (named.get("", "") if is_of_pictures else "")).strip()
    if not source or not (is_of_pictures or is_picture_name(source)):
        return None
    alt = named.get("alt") or named.get("caption") or ""
    return Found(found.end(), source, named.get("title", ""), alt, "shortcode")


def _directive_at(text: str, at: int) -> Found | None:
    """Of a directive of Microsoft Learn.

    >>> _directive_at(':::image source="a.png" alt-text="A":::', 0)
    Found(end=39, source='a.png', title='', alt='A', kind='directive')
    """
    found = _DIRECTIVE.match(text, at)
    named = dict(_DIRECTIVE_ATTRIBUTE.findall(found[1])) if found else {}
    source = named.get("source", "").strip()
    if not found or not source:
        return None
    return Found(found.end(), source, "", named.get("alt-text", ""), "directive")


def tail_end(text: str, at: int) -> int:
    """Where attributes in braces end that begin at `at`; `at` when there are none.

    Those of Python-Markdown, kramdown and Pandoc: `{ width="300" .right #map }`, `{: width=300}`.
    """
    return match_end(_TAIL, text, at) if text.startswith("{", at) else at


def template_target(text: str, at: int) -> str:
    """What stands in the parentheses at `at` when a program fills it in; "" otherwise.

    Such an address may hold spaces, so that CommonMark sees none.
    """
    found = _TEMPLATE_TARGET.match(text, at)
    return found[1].strip() if found else ""


def mask_shortcodes(text: str) -> str:
    r"""Give `text` with the `>` masked that closes a shortcode at the front of a line.

    Hugo reads shortcodes before markdown does; that `>` would begin a quote.

    >>> mask_shortcodes('{{< img\n  src="a.png"\n>}}\n')
    '{{< img\n  src="a.png"\n}}}\n'
    """
    return _LEADING_CLOSE.sub(r"\1}", text) if "{{<" in text else text
