# expect: exit 0
# expect: stdout never ESCAPED
# expect: stdout has refused
import socket
for family in (socket.AF_INET, getattr(socket, "AF_UNIX", 1)):
    try:
        s = socket.socket(family)
        s.settimeout(1)
        s.connect(("127.0.0.1", 7800) if family == socket.AF_INET else "/run/x.sock")
        s.send(b"GET / HTTP/1.0\r\n\r\n")
        print("ESCAPED", s.recv(10)) if s.recv(10) else print("refused empty")
    except BaseException as error:
        print("refused", type(error).__name__)
print("refused")
