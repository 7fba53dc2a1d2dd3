"""HTTP for Python programs: http.client (and so urllib.request), urllib3's browser back end, and an awaitable fetch."""

import asyncio
import http.client
import io
import itertools
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


_uploads = itertools.count(1)
PIECE_BYTES = 256 * 1024


def _pieces(body):
    """A body that comes in pieces (a file, an iterable), or None when it is there already."""
    if body is None or isinstance(body, (str, bytes, bytearray, memoryview)):
        return None
    parts = iter(lambda: body.read(PIECE_BYTES), type(body.read(0))()) if hasattr(body, "read") else iter(body)
    return (part.encode("utf-8") if isinstance(part, str) else bytes(part) for part in parts)


def _send_pieces(upload, pieces):
    """Each reply says that there is room for the next piece. A request that is over says why in its own answer."""
    try:
        for piece in pieces:
            for at in range(0, len(piece), PIECE_BYTES):
                wire.call("fetch.write", {"upload": upload}, piece[at : at + PIECE_BYTES])
        wire.call("fetch.write", {"upload": upload, "end": True})
    except wire.RelayError:
        pass
    except BaseException:
        wire.call("fetch.write", {"upload": upload, "abort": True})
        raise


def open_response(method, url, headers=(), body=None, redirect="follow"):
    """One request, up to the head of its answer: (result, file). The file reads the body as it arrives."""
    args = _args(method, url, headers)
    args["redirect"] = redirect
    pieces = _pieces(body)
    if pieces is None:
        result, data = wire.call("fetch", args, _bytes(body))
    else:
        args["upload"] = next(_uploads)
        number = wire.start("fetch", args)
        _send_pieces(args["upload"], pieces)
        result, data = wire.finish(number)
    if result.get("stream") is None:
        return result, io.BytesIO(data)
    return result, io.BufferedReader(_Body(result["stream"]), PIECE_BYTES)


def perform(method, url, headers=(), body=None, redirect="follow"):
    """One request, start to end: (result, bytes)."""
    result, file = open_response(method, url, headers, body, redirect)
    return result, file.read()


class _Body(io.RawIOBase):
    """A response's body that relay holds for us: each read asks for what has arrived."""

    def __init__(self, stream):
        self._stream = stream
        self._rest = b""

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._rest and self._stream is not None:
            try:
                result, self._rest = wire.call("fetch.read", {"stream": self._stream})
            except wire.RelayError as error:
                self._stream = None
                raise ConnectionResetError(f"{error.type}: {error}") from None
            if result["done"]:
                self._stream = None
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self):
        stream, self._stream = self._stream, None
        if stream is not None:
            wire.call("fetch.close", {"stream": stream})
        super().close()


class _Joined(io.RawIOBase):
    """The head as bytes, then the body from its file: what http.client reads from a socket."""

    def __init__(self, head, body):
        self._head, self._body = head, body

    def readable(self):
        return True

    def readinto(self, buffer):
        if self._head:
            count = min(len(buffer), len(self._head))
            buffer[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        piece = self._body.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self):
        self._body.close()
        super().close()


class _Socket:
    """What http.client sees: bytes go in, and the response comes out as a file."""

    def __init__(self, file=None):
        self._file = file or io.BytesIO()

    def makefile(self, *args, **kwargs):
        return self._file

    def close(self):
        pass

    def settimeout(self, timeout):
        pass

    def sendall(self, data):
        pass


def _serialized(result):
    lines = [f"HTTP/1.1 {result['status']} {result.get('statusText') or ''}".rstrip()]
    skipped = ("content-length", "transfer-encoding", "content-encoding", "connection")
    for name, value in result.get("headers") or ():
        if name.lower() not in skipped:
            lines.append(f"{name}: {value}")
    lines += ["Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def _response_file(method, result, body):
    """Without a length: the body ends where its file does. One that is here already says its length, as callers like to know."""
    head = _serialized(result)
    if isinstance(body, io.BytesIO):
        data = b"" if method == "HEAD" else body.getvalue()
        return io.BytesIO(head[:-2] + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return io.BufferedReader(_Joined(head, body), PIECE_BYTES)


def _patch_http_client():
    original_request = http.client.HTTPConnection.request

    def connect(self):
        self._relay_sent = bytearray()
        self.sock = _Socket()

    def send(self, data):
        if self.sock is None:
            self.connect()
        self._relay_sent += _bytes(data)

    def perform(self, given=None):
        head, _, body = bytes(self._relay_sent).partition(b"\r\n\r\n")
        request, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request.split(" ", 2)
        headers = [line.split(": ", 1) for line in lines if ": " in line]
        dropped = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")
        kept = [pair for pair in headers if pair[0].lower() not in dropped]
        self._relay_sent = bytearray()
        return method, *_performed(method, _absolute(self, target), kept, body if given is None else given)

    def request(self, method, url, body=None, headers={}, *, encode_chunked=False):
        # Asked for here and not in getresponse(): a refusal is a failed connection, which callers expect at this point.
        # A body that streams goes past http.client, which would frame it for a wire that is not there.
        streams = _pieces(body) is not None
        original_request(self, method, url, None if streams else body, headers)
        self._relay_answer = perform(self, body if streams else None)

    def getresponse(self):
        method, result, body = getattr(self, "_relay_answer", None) or perform(self)
        self._relay_answer = None
        self.sock = _Socket(_response_file(method, result, body))
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
        return open_response(method, url, headers, body or None, redirect="manual")
    except wire.RelayError as error:
        raise ConnectionRefusedError(f"{error.type}: {error}") from None


class FetchResponse:
    """What `await fetch(url)` gives: Pyodide's and the browser's names both work."""

    def __init__(self, result, data):
        self._stream, self._data = result.get("stream"), data
        self.status = self.status_code = result["status"]
        self.status_text = result.get("statusText") or ""
        self.url = result.get("url") or ""
        self.redirected = bool(result.get("redirected"))
        self.headers = {name.lower(): value for name, value in result.get("headers") or ()}
        self.ok = 200 <= self.status < 300

    async def read(self):
        """The next piece of the body, b"" at its end."""
        data, self._data = self._data, b""
        while not data and self._stream is not None:
            try:
                result, data = await _relay_loop.request("fetch.read", {"stream": self._stream})
            except wire.RelayError as error:
                self._stream = None
                raise OSError(f"fetch failed: {error.type}: {error}") from None
            if result["done"]:
                self._stream = None
        return data

    async def aclose(self):
        """Ends the transfer; what was not read is gone."""
        stream, self._stream, self._data = self._stream, None, b""
        if stream is not None:
            await _relay_loop.request("fetch.close", {"stream": stream})

    async def bytes(self):
        return b"".join([chunk async for chunk in self])

    async def text(self):
        return (await self.bytes()).decode("utf-8", "replace")

    string = text

    async def json(self, **options):
        return json.loads(await self.bytes(), **options)

    async def __aiter__(self):
        while chunk := await self.read():
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
    args, pieces = _args(method, url, headers), _async_pieces(body)
    sending = None
    if pieces is not None:
        args["upload"] = next(_uploads)
        sending = asyncio.ensure_future(_send_later(args["upload"], pieces))
    try:
        result, data = await _relay_loop.request("fetch", args, _bytes(body) if pieces is None else None)
        return FetchResponse(result, data)
    except wire.RelayError as error:
        raise OSError(f"fetch failed: {error.type}: {error}") from None
    finally:
        if sending is not None:
            sending.cancel()


def _async_pieces(body):
    if hasattr(body, "__aiter__"):
        return body
    pieces = _pieces(body)

    async def each():
        for piece in pieces:
            yield piece

    return None if pieces is None else each()


async def _send_later(upload, pieces):
    try:
        async for piece in pieces:
            piece = _bytes(piece)
            for at in range(0, len(piece), PIECE_BYTES):
                await _relay_loop.request("fetch.write", {"upload": upload}, piece[at : at + PIECE_BYTES])
        await _relay_loop.request("fetch.write", {"upload": upload, "end": True})
    except wire.RelayError:
        pass
    except Exception:
        await _relay_loop.request("fetch.write", {"upload": upload, "abort": True})


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
            result, file = open_response(request.method, request.url, request.headers, request.body, redirect="manual")
        except (wire.RelayError, OSError) as error:
            raise _RequestError(str(error), request=request) from None
        headers = {name: value for name, value in result.get("headers") or () if name.lower() != "content-encoding"}
        # Bytes where all of it is here, so that its length is known; otherwise a file that reads the body as it arrives.
        body = file.getvalue() if isinstance(file, io.BytesIO) else file
        return EmscriptenResponse(status_code=result["status"], headers=headers, body=body, request=request)

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
