# expect: exit 1|137
# expect: error MemoryError|OutOfMemory|OverflowError
x = "a" * 10 ** 10
