"""Charts as SVG, with nothing but the standard library."""

import math
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 44, 56
COLOURS = ("#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#dd4477", "#66aa00")
TICKS = 5
LABELS = 24  # along the x axis
KINDS = ("bar", "line", "scatter", "pie", "hist")


def draw(data, kind="bar", x=None, y=None, title=""):
    if kind not in KINDS:
        raise ValueError(f"'kind' must be one of {', '.join(KINDS)}")
    if kind == "hist":
        labels, series = _histogram(_numbers(data, x or y))
        kind = "bar"
    else:
        labels, series = _series(data, x, y)
    if not labels:
        raise ValueError("there is nothing to draw")
    body = _pie(labels, series) if kind == "pie" else _plot(labels, series, kind)
    head = f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="16">{escape(str(title))}</text>' if title else ""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>{head}{body}</svg>')


def _rows(data):
    """Rows as dictionaries, of whatever tables look like."""
    if hasattr(data, "to_dict"):
        return data.to_dict("records")
    if isinstance(data, dict):
        lists = all(isinstance(value, (list, tuple)) for value in data.values())
        if lists and data:
            return [dict(zip(data, row)) for row in zip(*data.values())]
        return [{"x": key, "y": value} for key, value in data.items()]
    rows = list(data)
    if rows and isinstance(rows[0], dict):
        return rows
    if rows and isinstance(rows[0], (list, tuple)):
        return [{"x": row[0], "y": row[1]} for row in rows]
    return [{"x": index, "y": value} for index, value in enumerate(rows)]


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _series(data, x, y):
    """(labels, {name: values}); what is no number is missing."""
    rows = _rows(data)
    if not rows:
        return [], {}
    names = list(rows[0])
    x = x if x is not None else names[0]
    wanted = [y] if isinstance(y, str) else list(y or [])
    if not wanted:
        wanted = [name for name in names if name != x and any(_is_number(row.get(name)) for row in rows)]
    unknown = [name for name in (x, *wanted) if name not in names]
    if unknown:
        raise ValueError(f"no column {unknown[0]!r}; there are: {', '.join(map(str, names))}")
    if not wanted:
        raise ValueError("no column holds numbers")
    return [row.get(x) for row in rows], {name: [row.get(name) if _is_number(row.get(name)) else None for row in rows] for name in wanted}


def _numbers(data, column):
    rows = _rows(data)
    column = column or ("y" if rows and "y" in rows[0] else next(iter(rows[0]), None) if rows else None)
    return [row[column] for row in rows if _is_number(row.get(column))]


def _histogram(values):
    if not values:
        return [], {}
    low, high = min(values), max(values)
    bins = max(1, min(40, round(math.sqrt(len(values)))))
    width = (high - low) / bins or 1
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / width))] += 1
    return [_short(low + width * index) for index in range(bins)], {"count": counts}


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _scale(values):
    low, high = min([0, *values]), max([0, *values])
    return low, high if high > low else low + 1


def _plot(labels, series, kind):
    values = [value for column in series.values() for value in column if value is not None]
    low, high = _scale(values)
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at_y(value):
        return TOP + tall * (1 - (value - low) / (high - low))

    numeric = kind != "bar" and all(_is_number(label) for label in labels)
    first, last = (min(labels), max(labels)) if numeric else (0, 0)

    def at_x(index):
        if numeric:
            return LEFT + wide * ((labels[index] - first) / (last - first) if last > first else 0.5)
        return LEFT + wide * (index + 0.5) / len(labels)

    out = [_axis(low, high, at_y), _labels(labels, at_x)]
    for number, (name, column) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [(at_x(index), at_y(value), index) for index, value in enumerate(column) if value is not None]
        if kind == "bar":
            slot = wide / len(labels) * 0.8 / len(series)
            out += [f'<rect x="{px - slot * len(series) / 2 + slot * number:.1f}" y="{min(py, at_y(0)):.1f}" width="{slot:.1f}" '
                    f'height="{abs(py - at_y(0)):.1f}" fill="{colour}"/>' for px, py, _ in points]
        if kind == "line":
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py, _ in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if kind == "scatter":
            out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py, _ in points]
        if len(series) > 1:
            out.append(f'<text x="{WIDTH - RIGHT}" y="{TOP + 14 * number}" text-anchor="end" fill="{colour}">{escape(str(name))}</text>')
    return "".join(out)


def _axis(low, high, at_y):
    out = []
    for tick in range(TICKS + 1):
        value = low + (high - low) * tick / TICKS
        y = at_y(value)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(float(value))}</text>')
    return "".join(out)


def _labels(labels, at_x):
    step = max(1, math.ceil(len(labels) / LABELS))
    return "".join(f'<text x="{at_x(index):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(_short(labels[index])[:16])}</text>'
                   for index in range(0, len(labels), step))


def _pie(labels, series):
    values = [max(0, value or 0) for value in next(iter(series.values()))]
    total = sum(values) or 1
    cx, cy, radius, angle, out = WIDTH / 2 - 80, HEIGHT / 2 + 12, 150, -math.pi / 2, []
    for number, (label, value) in enumerate(zip(labels, values)):
        colour = COLOURS[number % len(COLOURS)]
        end = angle + 2 * math.pi * min(value / total, 0.99999)
        large = 1 if end - angle > math.pi else 0
        out.append(f'<path d="M{cx},{cy} L{cx + radius * math.cos(angle):.1f},{cy + radius * math.sin(angle):.1f} '
                   f'A{radius},{radius} 0 {large} 1 {cx + radius * math.cos(end):.1f},{cy + radius * math.sin(end):.1f} Z" fill="{colour}"/>'
                   f'<text x="{WIDTH - 200}" y="{TOP + 20 + 16 * number}" fill="{colour}">{escape(_short(label)[:24])}: {_short(value)}</text>')
        angle += 2 * math.pi * value / total
    return "".join(out)
