# expect: exit 1
# expect: error RecursionError|RangeError|InternalError
# expect: text < 8000
def f(n):
    return f(n + 1) + 1
f(0)
