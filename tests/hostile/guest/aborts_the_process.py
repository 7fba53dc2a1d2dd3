# expect: exit 1|134|137|139
# expect: text < 8000
import os
os.abort()
