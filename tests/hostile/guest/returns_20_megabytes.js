// expect: text < 70000
"v".repeat(20_000_000);
