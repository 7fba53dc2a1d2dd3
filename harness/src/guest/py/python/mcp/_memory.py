"""Notes that outlive a run: JSON values by key, one file each, replaced as a whole.

They are kept under /tmp/.relay/memory in the workspace (RELAY_STATE_DIR names another place for /tmp/.relay).
"""

import json
import os
import re
import time

FIELDS = ("key", "metadata", "created_at", "updated_at")
KEY_LENGTH = 100


def state(*parts):
    return os.path.join(os.environ.get("RELAY_STATE_DIR", "/tmp/.relay"), *parts)


def replace(path, text):
    """Writes a file so that readers see the old or the new one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def _path(key):
    clean = re.sub(r"[^a-zA-Z0-9_-]", "_", str(key))[:KEY_LENGTH]
    if not clean:
        raise ValueError("the key is empty")
    return state("memory", clean + ".json")


def _load(path):
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError:
        raise ValueError(f"{path} holds no memory: it is not JSON") from None
    return record if isinstance(record, dict) and "value" in record else None


def save_memory(key, value, *, metadata=None):
    """Keeps a JSON value under a key. Metadata stays as it was unless some is given."""
    path = _path(key)
    old = _load(path)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    record = {
        "key": str(key),
        "value": value,
        "metadata": metadata if metadata is not None else (old or {}).get("metadata", {}),
        "created_at": (old or {}).get("created_at", now),
        "updated_at": now,
    }
    try:
        text = json.dumps(record)
    except TypeError as error:
        raise TypeError(f"a memory must be a JSON value: {error}") from None
    replace(path, text)
    return record


def load_memory(key, default=None):
    record = _load(_path(key))
    return default if record is None else record["value"]


def delete_memory(key):
    """True when there was one."""
    try:
        os.remove(_path(key))
        return True
    except FileNotFoundError:
        return False


def list_memories():
    """What is kept, without the values."""
    try:
        names = sorted(os.listdir(state("memory")))
    except FileNotFoundError:
        return []
    records = [_load(state("memory", name)) for name in names if name.endswith(".json")]
    return [_info(record) for record in records if record is not None]


def update_memory(key, fn):
    """Replaces a value by fn(value); fn gets None when there was none."""
    return save_memory(key, fn(load_memory(key)))["value"]


def memory_exists(key):
    return _load(_path(key)) is not None


def get_memory_info(key):
    record = _load(_path(key))
    return None if record is None else _info(record)


def _info(record):
    return {name: record.get(name) for name in FIELDS}
