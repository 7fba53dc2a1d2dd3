// expect: exit 1
// expect: error OutputLimitExceeded
// expect: text < 70000
for (let i = 0; i < 20; i++) console.log("o".repeat(1_000_000));
