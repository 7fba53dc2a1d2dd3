# expect: exit 124|137|1
x = 10 ** (10 ** 9)
