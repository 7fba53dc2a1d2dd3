# expect: exit 0
# expect: stdout never ESCAPED
# expect: stdout has refused
import os, subprocess
for attempt in (lambda: os.fork(), lambda: subprocess.run(["/bin/sh", "-c", "echo ESCAPED"], check=True), lambda: os.system("echo ESCAPED") and 1 / 0, lambda: os.execv("/bin/sh", ["sh"]), lambda: os.kill(1, 9)):
    try:
        result = attempt()
        print("returned", result)
    except BaseException as error:
        print("refused", type(error).__name__)
