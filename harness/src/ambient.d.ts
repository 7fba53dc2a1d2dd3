// WebAssembly as every host here has it, and the texts that the build puts into the bundles.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static customSections(module: Module, name: string): ArrayBuffer[];
  }
  class Instance {
    constructor(module: Module, imports?: object);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Global {}
  class Table {}
  type ExportValue = unknown;
  type ImportValue = unknown;
  function instantiate(source: Uint8Array, imports?: object): Promise<{ module: Module; instance: Instance }>;
  function instantiate(source: Module, imports?: object): Promise<Instance>;
}
type BufferSource = ArrayBuffer | ArrayBufferView;
declare module "relay:prelude" {
  const source: string;
  export default source;
}
declare module "relay:python" {
  /** Path inside the guest to source text. */
  const files: Record<string, string>;
  export default files;
}
declare module "relay:warm" {
  /** Signed start frames of the practice programs. */
  const frames: Record<"js" | "py", { header: string; body: string }[]>;
  export default frames;
}
declare module "pyodide/pyodide.mjs" {
  export function loadPyodide(options: object): Promise<unknown>;
  export const version: string;
}
