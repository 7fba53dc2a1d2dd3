# expect: exit 124
import re
re.match(r"(a+)+$", "a" * 50 + "!")
