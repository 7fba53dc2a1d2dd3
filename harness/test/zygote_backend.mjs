// Runs programs in a real relay-zygote, with the stub relay at the other end of the run socket.

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StubRelay, startFrame } from "./stub_relay.mjs";
import { runtimeDir } from "./stub_host.mjs";

const here = dirname(fileURLToPath(import.meta.url));

function frameBytes({ kind, header, body = [] }) {
  const head = Buffer.from(header), data = Buffer.from(body);
  const prefix = Buffer.alloc(9);
  prefix.writeUInt32LE(5 + head.length + data.length, 0);
  prefix.writeUInt8(kind, 4);
  prefix.writeUInt32LE(head.length, 5);
  return Buffer.concat([prefix, head, data]);
}

/** Cuts a byte stream into frames. */
function frameReader(onFrame) {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
      const size = held.readUInt32LE(0), headSize = held.readUInt32LE(5);
      const body = Buffer.from(held.subarray(9 + headSize, 4 + size));
      onFrame(held.readUInt8(4), held.subarray(9, 9 + headSize).toString(), body);
      held = held.subarray(4 + size);
    }
  };
}

export async function startZygote(language, program = process.env.RELAY_ZYGOTE) {
  const path = join(mkdtempSync(join(tmpdir(), "relay-zygote-")), "run.sock");
  const bridge = spawn("/usr/bin/python3", [join(here, "zygote_bridge.py"), path, program, language, runtimeDir], { stdio: ["pipe", "pipe", "inherit"] });
  let log = "";
  const ready = new Promise((resolve, reject) => {
    bridge.stdout.on("data", (data) => ((log += data), log.includes('"ready"') && resolve()));
    bridge.on("exit", () => reject(new Error(`the zygote ended: ${log}`)));
  });
  await ready;
  return {
    log: () => log,
    stop: () => bridge.stdin.end(),
    child: (options) => connectChild(path, language, options),
    async run(options) {
      const child = await connectChild(path, language);
      const result = await child.run(options);
      child.close();
      return result;
    },
  };
}

async function connectChild(path, language) {
  const socket = connect(path);
  let relay, finish, gone = false, greet;
  const ready = new Promise((resolve) => (greet = resolve));
  socket.on("data", frameReader((kind, header, body) => {
    if (kind === 16) greet();
    if (!relay) return;
    relay.accept(kind, header, body);
    if (kind === 20) finish(relay.result());
  }));
  const end = () => {
    gone = true;
    finish?.({ ...relay.result(), died: true });
  };
  socket.on("close", end);
  socket.on("error", end);
  return {
    ready,
    close: () => socket.destroy(),
    run(options, use = new StubRelay(options)) {
      relay = use;
      relay.push = (frame, delayMs = 0) => setTimeout(() => gone || socket.write(frameBytes(frame)), delayMs);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => (socket.destroy(), resolve({ ...relay.result(), timedOut: true, relay })), options.timeoutMs ?? 30000);
        finish = (result) => (clearTimeout(timer), resolve({ ...result, relay }));
        relay.push(startFrame({ language, ...options }));
      });
    },
  };
}
