# expect: exit 7
import sys
print("before")
sys.exit(7)
