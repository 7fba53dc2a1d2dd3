// expect: exit 124|1
/(a+)+$/.test("a".repeat(50) + "!");
