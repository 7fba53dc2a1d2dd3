// expect: exit 124|1|0
await new Promise(() => {});
