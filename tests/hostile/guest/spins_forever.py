# expect: exit 124
# expect: error Timeout
while True:
    pass
