// expect: exit 0|1|124|137
// expect: text < 70000
const fs = require("fs");
for (let i = 0; i < 5000; i++) fs.writeFileSync("/tmp/flood-" + (i % 50), "x");
console.log("done");
