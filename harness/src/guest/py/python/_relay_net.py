"""HTTP for Python programs: http.client (and so urllib.request), urllib3's browser back end, and an awaitable fetch."""

import http.client
import io
import json
import sys
import types
from urllib.parse import urlsplit

import _relay_loop
import _relay_wire as wire


def _pairs(headers):
    items = headers.items() if hasattr(headers, "items") else headers or ()
    return [[str(name), str(value)] for name, value in items]


def _args(method, url, headers):
    return {"url": url, "method": method.upper(), "headers": _pairs(headers), "redirect": "follow"}


def _bytes(body):
    if body is None:
        return None
    if isinstance(body, str):
        return body.encode("utf-8")
    if hasattr(body, "read"):
        return _bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else b"".join(body)


def perform(method, url, headers=(), body=None, redirect="follow"):
    """One request, start to end: (result, bytes). Streams are gathered."""
    args = _args(method, url, headers)
    args["redirect"] = redirect
    number = wire.start("fetch", args, _bytes(body))
    result, data = wire.finish(number)
    if isinstance(result, dict) and result.get("streaming"):
        data = _gather(number)
    return result, data


def _gather(number):
    parts = []
    for kind, header, body in iter(lambda: wire.next_event(number), None):
        event = json.loads(header)
        if event.get("event") == "chunk":
            parts.append(body)
        elif event.get("event") == "end":
            return b"".join(parts)
        else:
            raise wire._error(event.get("error"))
    return b"".join(parts)


class _Socket:
    """What http.client sees: bytes go in, and the whole response comes out as a file."""

    def __init__(self, data):
        self._data = data

    def makefile(self, *args, **kwargs):
        return io.BytesIO(self._data)

    def close(self):
        pass

    def settimeout(self, timeout):
        pass

    def sendall(self, data):
        pass


def _serialized(result, data):
    lines = [f"HTTP/1.1 {result['status']} {result.get('statusText') or ''}".rstrip()]
    skipped = ("content-length", "transfer-encoding", "content-encoding", "connection")
    for name, value in result.get("headers") or ():
        if name.lower() not in skipped:
            lines.append(f"{name}: {value}")
    lines += [f"Content-Length: {len(data)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + data


def _patch_http_client():
    original_request = http.client.HTTPConnection.request

    def connect(self):
        self._relay_sent = bytearray()
        self.sock = _Socket(b"")

    def send(self, data):
        if self.sock is None:
            self.connect()
        self._relay_sent += _bytes(data)

    def perform(self):
        head, _, body = bytes(self._relay_sent).partition(b"\r\n\r\n")
        request, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request.split(" ", 2)
        headers = [line.split(": ", 1) for line in lines if ": " in line]
        kept = [pair for pair in headers if pair[0].lower() not in ("host", "connection", "content-length", "accept-encoding")]
        self._relay_sent = bytearray()
        return method, *_performed(method, _absolute(self, target), kept, body)

    def request(self, *args, **kwargs):
        # Asked for here and not in getresponse(): a refusal is a failed connection, which callers expect at this point.
        original_request(self, *args, **kwargs)
        self._relay_answer = perform(self)

    def getresponse(self):
        method, result, data = getattr(self, "_relay_answer", None) or perform(self)
        self._relay_answer = None
        self.sock = _Socket(_serialized(result, b"" if method == "HEAD" else data))
        response = self.response_class(self.sock, method=method)
        response.begin()
        self._HTTPConnection__state = http.client._CS_IDLE
        self._HTTPConnection__response = None
        return response

    for kind in (http.client.HTTPConnection, http.client.HTTPSConnection):
        kind.connect, kind.send, kind.getresponse, kind.request = connect, send, getresponse, request


def _absolute(connection, target):
    if "://" in target:
        return target
    scheme = "https" if isinstance(connection, http.client.HTTPSConnection) else "http"
    port = "" if connection.port in (None, 80 if scheme == "http" else 443) else f":{connection.port}"
    return f"{scheme}://{connection.host}{port}{target}"


def _performed(method, url, headers, body):
    try:
        return perform(method, url, headers, body or None, redirect="manual")
    except wire.RelayError as error:
        raise ConnectionRefusedError(f"{error.type}: {error}") from None


class FetchResponse:
    """What `await fetch(url)` gives: Pyodide's and the browser's names both work."""

    def __init__(self, result, stream):
        self._stream = stream
        self.status = self.status_code = result["status"]
        self.status_text = result.get("statusText") or ""
        self.url = result.get("url") or ""
        self.redirected = bool(result.get("redirected"))
        self.headers = {name.lower(): value for name, value in result.get("headers") or ()}
        self.ok = 200 <= self.status < 300

    async def bytes(self):
        parts = []
        while (chunk := await self._stream.read()) is not None:
            parts.append(chunk)
        return b"".join(parts)

    async def text(self):
        return (await self.bytes()).decode("utf-8", "replace")

    string = text

    async def json(self, **options):
        return json.loads(await self.bytes(), **options)

    async def __aiter__(self):
        while (chunk := await self._stream.read()) is not None:
            yield chunk

    def raise_for_status(self):
        if not self.ok:
            raise OSError(f"{self.status} {self.status_text}: {self.url}")

    def __repr__(self):
        return f"<FetchResponse {self.status} {self.url}>"


async def fetch(url, method=None, headers=None, body=None, json_body=None, **options):
    """Requests a URL through relay. Several at once overlap: `await asyncio.gather(fetch(a), fetch(b))`."""
    headers = dict(headers or {})
    payload = options.pop("json", json_body)
    if payload is not None:
        body = json.dumps(payload)
        headers.setdefault("content-type", "application/json")
    method = method or ("POST" if body is not None else "GET")
    if not urlsplit(url).scheme:
        raise ValueError(f"fetch needs an absolute URL, not {url!r}")
    stream = _relay_loop.Stream("fetch", _args(method, url, headers), _bytes(body))
    try:
        return FetchResponse(await stream.opened, stream)
    except wire.RelayError as error:
        raise OSError(f"fetch failed: {error.type}: {error}") from None


def _urllib3_backend():
    """urllib3 (and so requests) asks this module for its transport when it runs on WebAssembly."""
    module = types.ModuleType("urllib3.contrib.emscripten.fetch")

    class _RequestError(Exception):
        def __init__(self, message=None, *, request=None, response=None):
            super().__init__(message)
            self.message, self.request, self.response = message, request, response

    class _TimeoutError(_RequestError):
        pass

    def send_request(request):
        from urllib3.contrib.emscripten.response import EmscriptenResponse

        try:
            result, data = perform(request.method, request.url, request.headers, request.body, redirect="manual")
        except (wire.RelayError, OSError) as error:
            raise _RequestError(str(error), request=request) from None
        headers = {name: value for name, value in result.get("headers") or () if name.lower() != "content-encoding"}
        return EmscriptenResponse(status_code=result["status"], headers=headers, body=data, request=request)

    module._RequestError, module._TimeoutError, module.send_request = _RequestError, _TimeoutError, send_request
    module.send_streaming_request = lambda request: None
    module.send_jspi_request = lambda request, streaming: send_request(request)
    module.has_jspi = lambda: False
    module.streaming_ready = lambda: False
    module.wait_for_streaming_ready = None
    module.is_in_browser_main_thread = lambda: False
    module._show_timeout_warning = module._show_streaming_warning = lambda: None
    return module


def install():
    _patch_http_client()
    sys.modules["urllib3.contrib.emscripten.fetch"] = _urllib3_backend()
    import pyodide.http

    pyodide.http.pyfetch = fetch
    pyodide.http.open_url = lambda url: io.StringIO(perform("GET", url)[1].decode("utf-8", "replace"))
