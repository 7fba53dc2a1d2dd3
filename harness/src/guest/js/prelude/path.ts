// node:path for POSIX paths.

import { process } from "./process";

export const sep = "/";
export const delimiter = ":";

export function normalize(path: string): string {
  if (path === "") return ".";
  const rooted = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length && parts[parts.length - 1] !== "..") parts.pop();
    else if (!rooted) parts.push("..");
  }
  const body = parts.join("/");
  const tail = path.endsWith("/") && body ? "/" : "";
  return rooted ? "/" + body + tail : body ? body + tail : "." + (tail || "");
}

export function join(...parts: string[]): string {
  const joined = parts.filter((part) => part !== "").join("/");
  return joined === "" ? "." : normalize(joined);
}

export function resolve(...parts: string[]): string {
  let path = "";
  for (let i = parts.length - 1; i >= 0 && !path.startsWith("/"); i--) if (parts[i]) path = path ? `${parts[i]}/${path}` : parts[i]!;
  if (!path.startsWith("/")) path = path ? `${process.cwd()}/${path}` : process.cwd();
  const clean = normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}

export function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

export function dirname(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  const cut = trimmed.lastIndexOf("/");
  if (cut < 0) return path.startsWith("/") ? "/" : ".";
  return trimmed.slice(0, cut).replace(/\/+$/, "") || "/";
}

export function basename(path: string, suffix = ""): string {
  const name = path.replace(/\/+$/, "").split("/").pop() ?? "";
  return suffix && name.endsWith(suffix) && name !== suffix ? name.slice(0, -suffix.length) : name;
}

export function extname(path: string): string {
  const name = basename(path);
  const cut = name.lastIndexOf(".");
  return cut <= 0 ? "" : name.slice(cut);
}

export function relative(from: string, to: string): string {
  const a = resolve(from).split("/").filter(Boolean), b = resolve(to).split("/").filter(Boolean);
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
}

export function parse(path: string) {
  const base = basename(path), ext = extname(path);
  const dir = path.includes("/") ? dirname(path) : "";
  return { root: path.startsWith("/") ? "/" : "", dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
}

export function format(parts: { dir?: string; root?: string; base?: string; name?: string; ext?: string }): string {
  const base = parts.base ?? (parts.name ?? "") + (parts.ext ?? "");
  const dir = parts.dir ?? parts.root ?? "";
  return dir ? (dir.endsWith("/") ? dir + base : `${dir}/${base}`) : base;
}
