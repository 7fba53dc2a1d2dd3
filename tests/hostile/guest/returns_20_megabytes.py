# expect: text < 70000
"v" * 20_000_000
