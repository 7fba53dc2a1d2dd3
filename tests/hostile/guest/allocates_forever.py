# expect: exit 1|124|137
# expect: error MemoryError|MemoryLimitExceeded|Timeout
hold = []
while True:
    hold.append(bytearray(1 << 20))
