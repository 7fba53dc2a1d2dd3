# expect: exit 124
# expect: error Timeout
class Trap:
    def __del__(self):
        while True:
            pass
trap = Trap()
del trap
