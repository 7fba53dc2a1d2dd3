// expect: exit 0|1|137
// expect: stdout never ESCAPED
try { JSON.parse("[".repeat(200000) + "]".repeat(200000)); console.log("parsed"); } catch (error) { console.log(error.name); }
