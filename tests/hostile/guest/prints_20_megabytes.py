# expect: exit 1
# expect: error OutputLimitExceeded
# expect: text < 70000
for i in range(20):
    print("o" * 1_000_000)
