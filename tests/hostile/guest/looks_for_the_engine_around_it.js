// expect: exit 0
// expect: stdout never ESCAPED
const outside = Function("return this")();
for (const name of ["host", "WebAssembly", "Deno", "Bun", "relayHarness", "readbuffer", "load", "os", "std", "scriptArgs", "d8", "quit"])
  if (typeof outside[name] !== "undefined") console.log("ESCAPED", name);
for (const name of ["child_process", "net", "vm", "worker_threads", "std", "node:child_process"]) {
  try { require(name); console.log("ESCAPED", name); } catch {}
}
try { process.binding("fs"); console.log("ESCAPED binding"); } catch {}
try { process.kill(1, 9); console.log("ESCAPED kill"); } catch {}
console.log("done");
