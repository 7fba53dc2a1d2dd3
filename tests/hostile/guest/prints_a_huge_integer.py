# expect: exit 124|137|1
import sys
sys.set_int_max_str_digits(0)
print(len(str(3 ** 20_000_000)))
