// errno as on Linux. Emscripten's libc numbers its errors in another way, and Python would show those numbers. They are
// changed in four places, before the snapshot is made: where system calls leave JavaScript (build.mjs marks them), in libc's
// table of messages, in Python's table from number to exception, and in the module errno. What libc itself decides, without
// a system call, keeps Emscripten's number. The one of these that programs meet is EISDIR, from open() of a directory: its
// Emscripten number keeps its meaning (Linux's EMLINK, which nothing here gives), and _relay_patch puts the right one in.

/** Name: Emscripten's number, Linux's number. */
export const ERRNO = {
  E2BIG: [1, 7], EACCES: [2, 13], EADDRINUSE: [3, 98], EADDRNOTAVAIL: [4, 99], EAFNOSUPPORT: [5, 97], EWOULDBLOCK: [6, 11],
  EAGAIN: [6, 11], EALREADY: [7, 114], EBADF: [8, 9], EBADMSG: [9, 74], EBUSY: [10, 16], ECANCELED: [11, 125], ECHILD: [12, 10],
  ECONNABORTED: [13, 103], ECONNREFUSED: [14, 111], ECONNRESET: [15, 104], EDEADLK: [16, 35], EDEADLOCK: [16, 35],
  EDESTADDRREQ: [17, 89], EDOM: [18, 33], EDQUOT: [19, 122], EEXIST: [20, 17], EFAULT: [21, 14], EFBIG: [22, 27],
  EHOSTUNREACH: [23, 113], EIDRM: [24, 43], EILSEQ: [25, 84], EINPROGRESS: [26, 115], EINTR: [27, 4], EINVAL: [28, 22],
  EIO: [29, 5], EISCONN: [30, 106], EISDIR: [31, 21], ELOOP: [32, 40], EMFILE: [33, 24], EMLINK: [34, 31], EMSGSIZE: [35, 90],
  EMULTIHOP: [36, 72], ENAMETOOLONG: [37, 36], ENETDOWN: [38, 100], ENETRESET: [39, 102], ENETUNREACH: [40, 101],
  ENFILE: [41, 23], ENOBUFS: [42, 105], ENODEV: [43, 19], ENOENT: [44, 2], ENOEXEC: [45, 8], ENOLCK: [46, 37], ENOLINK: [47, 67],
  ENOMEM: [48, 12], ENOMSG: [49, 42], ENOPROTOOPT: [50, 92], ENOSPC: [51, 28], ENOSYS: [52, 38], ENOTCONN: [53, 107],
  ENOTDIR: [54, 20], ENOTEMPTY: [55, 39], ENOTRECOVERABLE: [56, 131], ENOTSOCK: [57, 88], ENOTTY: [59, 25], ENXIO: [60, 6],
  EOVERFLOW: [61, 75], EOWNERDEAD: [62, 130], EPERM: [63, 1], EPIPE: [64, 32], EPROTO: [65, 71], EPROTONOSUPPORT: [66, 93],
  EPROTOTYPE: [67, 91], ERANGE: [68, 34], EROFS: [69, 30], ESPIPE: [70, 29], ESRCH: [71, 3], ESTALE: [72, 116],
  ETIMEDOUT: [73, 110], ETXTBSY: [74, 26], EXDEV: [75, 18], ENOSTR: [100, 60], EBFONT: [101, 59], EBADSLT: [102, 57],
  EBADRQC: [103, 56], ENOANO: [104, 55], ENOTBLK: [105, 15], ECHRNG: [106, 44], EL3HLT: [107, 46], EL3RST: [108, 47],
  ELNRNG: [109, 48], EUNATCH: [110, 49], ENOCSI: [111, 50], EL2HLT: [112, 51], EBADE: [113, 52], EBADR: [114, 53],
  EXFULL: [115, 54], ENODATA: [116, 61], ETIME: [117, 62], ENOSR: [118, 63], ENONET: [119, 64], ENOPKG: [120, 65],
  EREMOTE: [121, 66], EADV: [122, 68], ESRMNT: [123, 69], ECOMM: [124, 70], EDOTDOT: [125, 73], ENOTUNIQ: [126, 76],
  EBADFD: [127, 77], EREMCHG: [128, 78], ELIBACC: [129, 79], ELIBBAD: [130, 80], ELIBSCN: [131, 81], ELIBMAX: [132, 82],
  ELIBEXEC: [133, 83], ERESTART: [134, 85], ESTRPIPE: [135, 86], EUSERS: [136, 87], ESOCKTNOSUPPORT: [137, 94],
  EOPNOTSUPP: [138, 95], ENOTSUP: [138, 95], EPFNOSUPPORT: [139, 96], ESHUTDOWN: [140, 108], ETOOMANYREFS: [141, 109],
  EHOSTDOWN: [142, 112], EUCLEAN: [143, 117], ENOTNAM: [144, 118], ENAVAIL: [145, 119], EISNAM: [146, 120], EREMOTEIO: [147, 121],
  ENOMEDIUM: [148, 123], EMEDIUMTYPE: [149, 124], ENOKEY: [150, 126], EKEYEXPIRED: [151, 127], EKEYREVOKED: [152, 128],
  EKEYREJECTED: [153, 129], ERFKILL: [154, 132], EL2NSYNC: [156, 45],
} as const;

export type ErrnoName = keyof typeof ERRNO;

/** What a system call's number becomes on its way to Python. */
export function linuxNumbers(): number[] {
  const numbers: number[] = [];
  for (const [emscripten, linux] of Object.values(ERRNO)) numbers[emscripten] = linux;
  return numbers;
}

interface Memory {
  runPython(code: string): unknown;
  _module: { HEAP8: Int8Array };
}

/** Once, in an interpreter that was not made from a snapshot. */
export function useLinuxErrno(pyodide: Memory): void {
  renumberMessages(new Uint8Array(pyodide._module.HEAP8.buffer));
  const numbers = Object.fromEntries(Object.entries(ERRNO).map(([name, [, linux]]) => [name, linux]));
  pyodide.runPython(`RENUMBERED = ${JSON.stringify(numbers)}\n${RENUMBER}`);
}

const FIRST_MESSAGES = "Success\0Illegal byte sequence\0Domain error\0";
const TABLE_BYTES_MAX = 1024;

/** libc has the messages in one block, and just before it a table of 16-bit offsets into it, by number. */
function renumberMessages(memory: Uint8Array): void {
  const block = find(memory, FIRST_MESSAGES);
  const offset = (message: string) => find(memory, `\0${message}\0`, block) + 1 - block;
  const known: [ErrnoName, number][] = [["ENOENT", offset("No such file or directory")], ["EPERM", offset("Operation not permitted")]];
  const view = new DataView(memory.buffer);
  const at = (table: number, number: number) => view.getUint16(table + 2 * number, true);
  let table = block - 2;
  while (!known.every(([name, expected]) => table + 2 * ERRNO[name][0] < block && at(table, ERRNO[name][0]) === expected)) {
    table -= 2;
    if (block - table > TABLE_BYTES_MAX) throw new Error("libc's table of error messages is not where it was: look at it again");
  }
  const size = (block - table) >> 1;
  const offsets = Array.from({ length: size }, (_, number) => at(table, number));
  const renumbered = new Array<number>(size).fill(0);
  for (const [emscripten, linux] of Object.values(ERRNO)) if (emscripten < size && linux < size) renumbered[linux] = offsets[emscripten]!;
  renumbered[ERRNO.EISDIR[0]] = offsets[ERRNO.EISDIR[0]]!;
  renumbered.forEach((value, number) => view.setUint16(table + 2 * number, value, true));
}

function find(memory: Uint8Array, text: string, from = 0): number {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  for (let at = memory.indexOf(bytes[0]!, from); at >= 0; at = memory.indexOf(bytes[0]!, at + 1))
    if (bytes.every((byte, i) => memory[at + i] === byte)) return at;
  throw new Error("libc's error messages are not what they were: look at them again");
}

const RENUMBER = `
def renumber(numbers):
    import errno, gc
    tables = [item for item in gc.get_objects() if type(item) is dict and item.get(errno.ENOENT) is FileNotFoundError]
    if len(tables) != 1:
        raise RuntimeError("Python's table of errors is not where it was: look at it again")
    exceptions = {numbers[errno.errorcode[number]]: kind for number, kind in tables[0].items() if errno.errorcode.get(number) in numbers}
    exceptions[errno.EISDIR] = IsADirectoryError
    tables[0].clear()
    tables[0].update(exceptions)
    errno.errorcode.clear()
    for name in [name for name in vars(errno) if name[0] == "E"]:
        delattr(errno, name)
    for name, number in numbers.items():
        setattr(errno, name, number)
        errno.errorcode.setdefault(number, name)
renumber(RENUMBERED)
del renumber, RENUMBERED
`;
