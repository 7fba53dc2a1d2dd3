// The walls are for attacks. An ordinary program that reaches for something gets it, or its language's own exception: never the kernel's
// verdict. Each line is a run; whether it succeeds is its own affair.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from '../mcp.mjs';
import { serve } from '../program.mjs';

const lines = {
  run_py: `
import datetime; datetime.datetime.now().astimezone(); datetime.date.today().strftime("%A %d %B %Y %Z %c")
import time; time.localtime(); time.mktime(time.localtime()); time.ctime(); time.strftime("%Z %z"); time.process_time()
import zoneinfo; zoneinfo.available_timezones(); zoneinfo.ZoneInfo("UTC")
import calendar, locale; calendar.month(2024, 2); locale.getlocale(); locale.setlocale(locale.LC_ALL, "")
import tempfile; tempfile.NamedTemporaryFile().write(b"x"); tempfile.mkdtemp()
import uuid, secrets; uuid.uuid1(); uuid.getnode(); secrets.token_hex()
import os; os.getpid(); os.cpu_count(); os.getcwd(); os.uname(); os.times(); os.statvfs("/")
import os; os.getloadavg(); os.getlogin()
import os; os.system("ls")
import os; os.fork()
import os; os.kill(1, 9)
import os; os.pipe()
import os; os.symlink("/tmp/a", "/tmp/b")
import subprocess; subprocess.run(["ls"])
import socket; socket.gethostname(); socket.gethostbyname("localhost")
import socket; socket.create_connection(("127.0.0.1", 80), 1)
import threading; threading.Thread(target=print).start()
import multiprocessing; multiprocessing.Process(target=print).start()
import sqlite3; sqlite3.connect(":memory:").execute("select datetime('now', 'localtime')").fetchall()
import ssl; ssl.create_default_context()
import urllib.request; urllib.request.urlopen("http://example.com")
import email.utils, logging; email.utils.formatdate(localtime=True); logging.warning("x")
import shutil, glob; glob.glob("/tmp/*"); shutil.disk_usage("/"); shutil.which("ls")
import platform, getpass; platform.platform(); platform.node(); getpass.getuser()
import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.alarm(1)
import select, mmap; select.select([], [], [], 0.01); mmap.mmap(-1, 4096)[0:1] = b"x"
import faulthandler, tracemalloc; tracemalloc.start(); faulthandler.dump_traceback()
import ctypes; ctypes.CDLL(None)
import gzip, bz2, lzma; gzip.compress(b"x"); bz2.compress(b"x"); lzma.compress(b"x")
import fcntl; fcntl.fcntl(0, fcntl.F_GETFL)
import termios; termios.tcgetattr(0)
import webbrowser; webbrowser.open("http://x")
open("/dev/null").read(); open("/dev/urandom", "rb").read(4); open("/proc/self/status").read()
x = [0] * 10**8
2**10**6`,
  run_js: `
new Date().toString(); new Date().toLocaleString(); (1234.5).toLocaleString(); "a".localeCompare("b")
console.log(new Date().toLocaleTimeString("en-US", { timeZone: "America/New_York" }), Intl.DateTimeFormat)
process.memoryUsage(); process.cpuUsage(); process.chdir("/tmp"); process.hrtime.bigint(); performance.now()
process.kill(1, 9)
process.abort()
require("child_process")
require("worker_threads")
require("fs").readFileSync("/dev/urandom")
await fetch("http://example.com")
new Worker("x")
Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 10)
await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
new Function("return 1")(); eval("1 + 1")
(function f() { f() })()
new Array(1e9).fill(0)
"x".repeat(2 ** 29)
JSON.parse("[".repeat(100000))
Promise.reject(new Error("x"))`,
};

test('no line of an ordinary program runs into a wall', async (t) => {
  const server = await serve(t, { config: { toolsets: ['code'] } });
  const verdicts = ['PolicyDenied', 'SandboxViolation', 'Internal', 'Timeout'];
  for (const [tool, text] of Object.entries(lines)) {
    for (const code of text.trim().split('\n')) {
      const { exitCode, error } = (await callTool(server.endpoint, tool, { code, timeoutMs: 20000 })).structuredContent;
      assert.ok(!verdicts.includes(error?.type) && exitCode !== 126, `${code}: ${JSON.stringify(error)}`);
    }
  }
});
