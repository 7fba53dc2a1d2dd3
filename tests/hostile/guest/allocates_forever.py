# expect: exit 1|137
# expect: error MemoryError|OutOfMemory
hold = []
while True:
    hold.append(bytearray(1 << 20))
