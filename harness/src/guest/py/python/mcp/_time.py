"""Time in other places, by fixed offset or by the name of a zone."""

import datetime
import re

_OFFSET = re.compile(r"^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$")


def _zone(name):
    if name is None or name in ("UTC", "GMT", "Z"):
        return datetime.timezone.utc
    if isinstance(name, datetime.tzinfo):
        return name
    offset = _OFFSET.match(str(name))
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return datetime.timezone(datetime.timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    return _named(str(name))


def _named(name):
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise LookupError(f"unknown time zone {name!r}; list_timezones('europe') shows names") from None


def now(tz=None):
    """The time now, with its zone; UTC unless told otherwise."""
    return datetime.datetime.now(_zone(tz))


def _read(time, tz):
    if isinstance(time, (int, float)):
        return datetime.datetime.fromtimestamp(time, _zone(tz))
    if isinstance(time, str):
        try:
            time = datetime.datetime.fromisoformat(time)
        except ValueError:
            today = now(tz).date()
            time = datetime.datetime.combine(today, datetime.time.fromisoformat(time))
    return time if time.tzinfo is not None else time.replace(tzinfo=_zone(tz))


def convert_time(time, from_tz=None, to_tz="UTC"):
    """A time in another zone. Takes a datetime, ISO text, 'HH:MM' of today, or seconds since 1970; from_tz counts where it names none."""
    return _read(time, from_tz).astimezone(_zone(to_tz))


def list_timezones(contains=""):
    """Names of zones, those with `contains` in them."""
    import zoneinfo

    return sorted(name for name in zoneinfo.available_timezones() if contains.lower() in name.lower())
