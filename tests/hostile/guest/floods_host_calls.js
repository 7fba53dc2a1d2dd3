// expect: exit 0|1|124|137
// expect: text < 70000
const fs = require("fs/promises");
await Promise.allSettled(Array.from({length: 20000}, (_, i) => fs.stat("/tmp/none" + i)));
console.log("answered");
