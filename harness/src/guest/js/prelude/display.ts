// display(): puts an image or a file into the tool's result. Takes a path, bytes, a Blob, or text.

import { request } from "./requests";
import { Blob, toBytes } from "./streams";
import { pathOf } from "./files";

const TYPES: Record<string, string> = {
  png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", svg: "image/svg+xml",
  html: "text/html", json: "application/json", csv: "text/csv", txt: "text/plain", md: "text/markdown", pdf: "application/pdf",
};

function sniff(bytes: Uint8Array): string {
  const starts = (...codes: number[]) => codes.every((code, i) => bytes[i] === code);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  if (starts(0x52, 0x49, 0x46, 0x46) && bytes[8] === 0x57) return "image/webp";
  if (starts(0x25, 0x50, 0x44, 0x46)) return "application/pdf";
  return "application/octet-stream";
}

export async function display(what: unknown, options: { mime?: string; name?: string } = {}): Promise<void> {
  if (typeof what === "string" && what.startsWith("/") && !what.includes("\n")) {
    const path = pathOf(what);
    const mime = options.mime ?? TYPES[path.split(".").pop()!.toLowerCase()];
    await request("display", { path, mime, name: options.name }).answer;
    return;
  }
  if (typeof what === "string" || (typeof what === "object" && what !== null && !(what instanceof Blob) && !ArrayBuffer.isView(what) && !(what instanceof ArrayBuffer))) {
    const text = typeof what === "string" ? what : JSON.stringify(what, null, 2);
    const mime = options.mime ?? (typeof what === "string" ? "text/plain" : "application/json");
    await request("display", { mime, name: options.name }, toBytes(text)).answer;
    return;
  }
  const bytes = toBytes(what);
  const mime = options.mime ?? ((what as Blob).type || sniff(bytes));
  await request("display", { mime, name: options.name }, bytes).answer;
}
