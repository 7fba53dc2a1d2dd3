"""Gives Node, which has no SEQPACKET sockets, children of a real relay-zygote.

usage: zygote_bridge.py SOCKET ZYGOTE js|py RUNTIME_DIR
Listens on SOCKET; every connection becomes the run socket of a freshly forked child.
"""

import array
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading


def reader(control):
    while True:
        data, fds, _, _ = socket.recv_fds(control, 65536, 4)
        if not data:
            os._exit(0)
        for fd in fds:
            os.close(fd)
        print(data.decode(), flush=True)


def main():
    path, zygote, language, runtime = sys.argv[1:5]
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours = socket.socket(fileno=fcntl.fcntl(ours.detach(), fcntl.F_DUPFD_CLOEXEC, 10))
    os.dup2(theirs.fileno(), 3)
    child = subprocess.Popen([zygote, language, "--runtime-dir", runtime], pass_fds=(3,), stdin=subprocess.DEVNULL)
    if theirs.detach() != 3:
        os.close(3)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    threading.Thread(target=reader, args=(ours,), daemon=True).start()
    threading.Thread(target=lambda: (sys.stdin.read(), child.kill(), os._exit(0)), daemon=True).start()
    number = 0
    while True:
        run, _ = listener.accept()
        number += 1
        message = json.dumps({"op": "fork", "id": number}).encode()
        ours.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [run.fileno()]))])
        run.close()


main()
