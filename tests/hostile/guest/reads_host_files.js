// expect: exit 0
// expect: stdout never ESCAPED
// expect: stdout has refused
const fs = require("fs");
for (const path of ["/etc/passwd", "/proc/self/maps", "/proc/1/environ", "/dev/mem", "/host/../etc/passwd", "/tmp/../../etc/passwd", "/tmp/\0/etc/passwd"]) {
  try { fs.readFileSync(path); console.log("ESCAPED", path); } catch (error) { console.log("refused", error.code ?? error.name); }
}
