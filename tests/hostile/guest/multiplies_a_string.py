# expect: exit 1|137
# expect: error MemoryError|MemoryLimitExceeded|OverflowError
x = "a" * 10 ** 10
