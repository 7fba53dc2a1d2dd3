# expect: exit 0|1
# expect: stdout never ESCAPED
import threading
try:
    thread = threading.Thread(target=lambda: print("ESCAPED"))
    thread.start()
except Exception as error:
    print("refused", type(error).__name__)
