"""Results as files: what is written here is listed in the result of the run."""

import io
import json
import os
import re

from . import _chart

FOLDER = "/out"


def execution_folder():
    """Where a run leaves its files."""
    return FOLDER


def _path(folder, filename):
    name = re.sub(r"[^\w. -]", "_", os.path.basename(str(filename))).strip(". ")
    if not name:
        raise ValueError("the file name is empty")
    os.makedirs(os.path.join(FOLDER, folder), exist_ok=True)
    return os.path.join(FOLDER, folder, name)


def _bytes_of(data):
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if isinstance(data, str):
        return data.encode()
    return json.dumps(data, indent=2, default=str).encode()


def save_file(filename, data):
    """Writes text, bytes or a JSON value to /out/data; gives the path."""
    path = _path("data", filename)
    with open(path, "wb") as file:
        file.write(_bytes_of(data))
    return path


def _image_bytes(image, format):
    if isinstance(image, (bytes, bytearray, memoryview)):
        return bytes(image)
    out = io.BytesIO()
    if hasattr(image, "savefig"):
        image.savefig(out, format=format)
        return out.getvalue()
    if hasattr(image, "save"):
        image.save(out, format=format.upper())
        return out.getvalue()
    for method, kind in (("_repr_svg_", "svg"), ("_repr_png_", "png")):
        shown = getattr(image, method, lambda: None)()
        if shown is not None and kind == format:
            return shown if isinstance(shown, bytes) else shown.encode()
    if isinstance(image, str) and image.lstrip().startswith("<svg"):
        return image.encode()
    raise TypeError("save_image takes bytes, an SVG text, a figure with savefig() or an image with save()")


def save_image(filename, image, format=None):
    """Writes an image to /out/images; gives the path. The format follows the file name unless it is given."""
    ending = os.path.splitext(str(filename))[1].lstrip(".").lower()
    format = (format or ending or "png").lower()
    path = _path("images", filename if ending else f"{filename}.{format}")
    with open(path, "wb") as file:
        file.write(_image_bytes(image, format))
    return path


def render_chart(data, kind="bar", x=None, y=None, title=""):
    """Draws rows or numbers as an SVG in /out/images and gives its file:// URL. Kinds: bar, line, scatter, pie, hist."""
    drawn = _chart.draw(data, kind, x, y, title)
    slug = re.sub(r"[^a-z0-9]+", "-", (title or kind).lower()).strip("-")[:60] or "chart"
    path, number = _path("images", f"{slug}.svg"), 2
    while os.path.exists(path):
        path, number = _path("images", f"{slug}-{number}.svg"), number + 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawn)
    return f"file://{path}"
