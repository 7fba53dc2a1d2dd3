// expect: exit 13|124
await new Promise(() => {});
