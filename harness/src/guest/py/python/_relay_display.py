"""display(): puts an image, a figure or a file into the tool's result."""

import io
import json
import mimetypes
import os

import _relay_wire as wire

_MAGIC = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"%PDF", "application/pdf"))


def _sniff(data):
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC if data.startswith(magic)), "application/octet-stream")


def _rendered(value):
    """(bytes, mime) of an object that can show itself, the way notebooks ask."""
    if hasattr(value, "savefig"):
        out = io.BytesIO()
        value.savefig(out, format="png")
        return out.getvalue(), "image/png"
    if hasattr(value, "save") and hasattr(value, "mode"):
        out = io.BytesIO()
        value.save(out, format="PNG")
        return out.getvalue(), "image/png"
    for method, mime in (("_repr_png_", "image/png"), ("_repr_svg_", "image/svg+xml"), ("_repr_html_", "text/html")):
        shown = getattr(value, method, lambda: None)()
        if shown is not None:
            return (shown if isinstance(shown, bytes) else str(shown).encode("utf-8", "relay")), mime
    if isinstance(value, (dict, list)):
        return json.dumps(value, indent=2, default=str).encode("utf-8", "relay"), "application/json"
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "relay"), "text/plain"


def display(value, mime=None, name=None):
    """Shows a path, bytes, a figure, an image, or any value in the result of this run."""
    if isinstance(value, os.PathLike) or (isinstance(value, str) and value.startswith("/") and "\n" not in value):
        path = os.path.abspath(os.fspath(value))
        wire.call("display", {"path": path, "mime": mime or mimetypes.guess_type(path)[0], "name": name})
        return
    if isinstance(value, (bytes, bytearray, memoryview)):
        data, kind = bytes(value), _sniff(bytes(value[:16]))
    else:
        data, kind = _rendered(value)
    wire.call("display", {"mime": mime or kind, "name": name}, data)
