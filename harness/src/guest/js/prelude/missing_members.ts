// What a program should use instead of a member of Node's modules that this sandbox does not have.

import * as p from "./primordials";

const INSTEAD: Record<string, [RegExp, string][]> = {
  crypto: [
    [/^(?:createCipher|createDecipher|publicEncrypt|privateDecrypt)/, "use crypto.subtle.encrypt and decrypt"],
    [/^(?:createSign|createVerify|sign|verify)$/, "use crypto.subtle.sign and verify"],
    [/^(?:generateKey|createPrivateKey|createPublicKey|createSecretKey)/, "use crypto.subtle.importKey and generateKey"],
    [/^(?:pbkdf2|scrypt|hkdf)/, "use crypto.subtle.deriveBits"],
  ],
  fs: [[/^(?:watch|unwatch)/, "read the file again when it is needed"], [/^(?:chmod|chown|l?utimes|link|symlink)/, "files here have neither owners nor links"]],
  os: [[/./, "the sandbox has no machine of its own"]],
  util: [[/^parseArgs$/, "read process.argv"], [/^styleText$/, "print without colours"]],
  process: [[/^(?:dlopen|setuid|setgid)/, "a run cannot change its process"]],
};

export function missingMember(module: string, member: string, names: string[]): string {
  const advice = (p.hasOwn(INSTEAD, module) ? INSTEAD[module]! : []).find(([pattern]) => pattern.test(member))?.[1];
  const what = `node:${module} has no '${member}' in this sandbox`;
  return `${what}${advice ? `: ${advice}` : ""}. It has ${p.join(p.sort(p.slice(names)), ", ")}`;
}
