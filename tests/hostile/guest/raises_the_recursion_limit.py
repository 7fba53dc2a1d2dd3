# expect: exit 1|124|137
# expect: text < 8000
import sys
sys.setrecursionlimit(10**9)
def f(n):
    return f(n + 1) + 1
f(0)
