// expect: exit 1
// expect: text < 10000
throw new Error("m".repeat(1_000_000));
