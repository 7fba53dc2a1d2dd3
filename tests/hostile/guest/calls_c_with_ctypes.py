# expect: exit 0|1
# expect: stdout never ESCAPED
try:
    import ctypes
    libc = ctypes.CDLL(None)
    libc.system(b"echo ESCAPED")
    libc.open(b"/etc/passwd", 0) >= 0 and print("ESCAPED open")
except BaseException as error:
    print("refused", type(error).__name__)
