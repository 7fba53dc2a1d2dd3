// expect: exit 124|137
// expect: error Timeout|MemoryLimitExceeded
const again = () => Promise.resolve().then(again);
await again();
await new Promise(() => again());
