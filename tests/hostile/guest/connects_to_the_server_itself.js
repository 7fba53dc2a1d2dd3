// expect: exit 0
// expect: stdout never ESCAPED
// expect: stdout has refused
for (const url of ["http://127.0.0.1:7800/", "http://localhost/", "http://[::1]/", "http://0x7f000001/", "http://2130706433/", "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/"]) {
  try { await fetch(url); console.log("ESCAPED", url); } catch (error) { console.log("refused", error.name); }
}
