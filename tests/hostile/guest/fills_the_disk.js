// expect: exit 0|1|124|137
// expect: stdout never ESCAPED
const fs = require("fs");
const block = "x".repeat(4_000_000);
try { for (let i = 0; i < 100000; i++) fs.writeFileSync("/tmp/fill-" + i, block); console.log("ESCAPED"); } catch (error) { console.log("refused", error.code); }
for (let i = 0; i < 2000; i++) try { fs.rmSync("/tmp/fill-" + i); } catch { break; }
