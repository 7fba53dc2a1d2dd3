# expect: exit 0
# expect: stdout never ESCAPED
# expect: stdout has refused
for path in ["/etc/passwd", "/proc/self/maps", "/proc/1/environ", "/host/../etc/passwd", "/tmp/../../etc/passwd"]:
    try:
        text = open(path).read()
        print("ESCAPED" if "root:x:0" in text or "r-xp" in text else "refused empty", path)
    except Exception as error:
        print("refused", type(error).__name__)
