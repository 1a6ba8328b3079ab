"""SVG as it comes: inflated, parsed within bounds, and what it says in words.

Expat reads no file and no page. What it would expand without end, entities and default attributes,
stands in a document type's own declarations, so a document type with any is refused; a plain one,
as graphviz writes it, is not.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from mdvision.errors import Code, MdVisionError, failure
from mdvision.images.sniff import SVG, sniff

if TYPE_CHECKING:
    from collections.abc import Iterator

SVG_NAMESPACE = "{http://www.w3.org/2000/svg}"
MAX_SVG_BYTES = 5 << 20
"""Of the text, once inflated."""
MAX_SVG_DEPTH = 256
"""Elements within elements; renderers recurse, and 20,000 end the process of some."""
MAX_SVG_ELEMENTS = 50_000

_GZIP = b"\x1f\x8b"
_GZIP_FORMAT = 31  # for zlib: a gzip header, and the largest window
_SNIFFED_BYTES = 65_536
_LINE_ATTRIBUTES = frozenset({"x", "y", "dy"})
_UNSEEN = frozenset({"defs", "desc", "metadata", "script", "style", "title"})


def is_svg(data: bytes) -> bool:
    """Whether bytes are SVG or SVGZ, by the bytes alone.

    >>> is_svg(b"<svg/>"), is_svg(b"<html><svg/></html>")
    (True, False)
    """
    if not data.startswith(_GZIP):
        return sniff(data) == SVG
    try:
        return sniff(_inflated(data, _SNIFFED_BYTES)) == SVG
    except zlib.error:
        return False


def _inflated(data: bytes, most: int) -> bytes:
    return zlib.decompressobj(_GZIP_FORMAT).decompress(data, most)


def parse_svg(data: bytes, max_bytes: int = MAX_SVG_BYTES) -> Element:
    """Parse SVG or SVGZ; names are those of ElementTree, comments and instructions left out.

    A root without a namespace, and all in it, is taken for SVG.

    Raises:
        SourceError: more than `max_bytes` bytes, once inflated.
        UnsupportedFormatError: a document type with declarations; another root than `svg`.
        DecodeError: no well-formed XML; too deep, or of too many elements.
    """
    if data.startswith(_GZIP):
        try:
            data = _inflated(data, max_bytes + 1)
        except zlib.error:
            raise damaged("the gzip data is damaged") from None
    if len(data) > max_bytes:
        message = f"The SVG has more than {max_bytes:,} bytes, the limit."
        raise failure(Code.SOURCE_TOO_LARGE, message, details={"limit": max_bytes})
    root = _Parser().parse(data)
    if root.tag not in ("svg", f"{SVG_NAMESPACE}svg"):
        message = "The file is no SVG: its root is another element."
        raise failure(Code.SOURCE_UNSUPPORTED, message, details={"reason": "not_an_image"})
    if root.tag == "svg":
        for element in root.iter():
            if not element.tag.startswith("{"):
                element.tag = f"{SVG_NAMESPACE}{element.tag}"
    return root


class _Parser:
    """Expat to a tree, counting."""

    def __init__(self) -> None:
        self.builder = TreeBuilder()
        self.depth = self.elements = 0

    def parse(self, data: bytes) -> Element:
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.doctype
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.builder.data
        try:
            parser.Parse(data, True)  # noqa: FBT003 - it takes no names
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise damaged(f"{message} in line {error.lineno}") from None
        except (ValueError, LookupError):  # an encoding that there is not
            raise damaged("its encoding is not known") from None
        return self.builder.close()

    def doctype(
        self, _name: str, _system: str | None, _public: str | None, has_declarations: int
    ) -> None:
        if has_declarations:
            message = "The SVG declares entities or the like in its DOCTYPE, which is not read."
            action = "Save it without the DOCTYPE, as plain SVG."
            details = {"reason": "doctype"}
            raise failure(Code.SOURCE_UNSUPPORTED, message, next_action=action, details=details)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_SVG_DEPTH:
            raise damaged(f"its elements nest more than {MAX_SVG_DEPTH} deep", "nesting")
        if self.elements > MAX_SVG_ELEMENTS:
            raise damaged(f"it has more than {MAX_SVG_ELEMENTS:,} elements", "elements")
        named = {_name(attribute): value for attribute, value in attributes.items()}
        self.builder.start(_name(name), named)

    def end(self, name: str) -> None:
        self.depth -= 1
        self.builder.end(_name(name))


def _name(name: str) -> str:
    return f"{{{name}" if "}" in name else name


def damaged(why: str, reason: str = "corrupt") -> MdVisionError:
    """The error that an SVG cannot be drawn."""
    message = f"The SVG could not be drawn: {why}."
    action = "Correct the SVG, or give a PNG of it."
    return failure(Code.DECODE_FAILED, message, next_action=action, details={"reason": reason})


def local_name(name: str) -> str:
    """A tag or attribute without its namespace.

    >>> local_name("{http://www.w3.org/1999/xlink}href"), local_name("href")
    ('href', 'href')
    """
    return name.rpartition("}")[2]


class SvgWords(NamedTuple):
    """What an SVG says."""

    title: str
    description: str
    texts: tuple[str, ...]
    """Its labels, in the order of the document."""


def svg_words(root: Element) -> SvgWords:
    """The title, the description and the labels of an SVG; white space is one space.

    Of a `switch` the first child that says something speaks, as but one of them is drawn. What
    stands in `defs` is not seen.
    """
    title = next((_words(child) for child in root if local_name(child.tag) == "title"), "")
    description = next((_words(child) for child in root if local_name(child.tag) == "desc"), "")
    return SvgWords(title, description, tuple(_labels(root)))


def _labels(element: Element) -> Iterator[str]:
    name = local_name(element.tag)
    if name in _UNSEEN:
        return
    if name in ("text", "foreignObject"):
        if words := _words(element):
            yield words
        return
    for child in element:
        labels = list(_labels(child))
        yield from labels
        if labels and name == "switch":
            return


def _words(element: Element) -> str:
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Element) -> Iterator[str]:
    name = local_name(element.tag)
    if name in ("script", "style"):
        return
    if not _LINE_ATTRIBUTES.isdisjoint(element.attrib) or not element.tag.startswith(SVG_NAMESPACE):
        yield " "  # a line of its own
    yield element.text or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
