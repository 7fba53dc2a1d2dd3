// expect: exit 124
// expect: error Timeout
const again = () => Promise.resolve().then(again);
await again();
await new Promise(() => again());
