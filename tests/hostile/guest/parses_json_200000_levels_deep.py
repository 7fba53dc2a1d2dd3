# expect: exit 0|1|137|124
import json
try:
    json.loads("[" * 200000 + "]" * 200000)
except RecursionError as error:
    print("refused")
