// expect: exit 0
// expect: stdout never ESCAPED
// expect: stdout has refused
const fs = require("fs");
for (const path of ["/etc/x", "/x", "/host/x", "/mcps/x", "/out/../x", "/tmp/../etc/x"]) {
  try { fs.writeFileSync(path, "x"); console.log("ESCAPED", path); } catch (error) { console.log("refused", error.code ?? error.name); }
}
