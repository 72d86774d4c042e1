import type { ServerResponse } from 'node:http';

/**
 * Vectors are data with blanks: `{port}` is the canaries' port (on 127.0.0.1, ::1 and every other address of the
 * machine), `{file}` the path of the canary file, `{self}` host and port of the hostile server, `{base}` the URL of the
 * vector's own folder on it.
 */
export type Blanks = { port: number; file: string; self: string; base: string };

export function fillIn(text: string, blanks: Blanks): string {
  return text.replaceAll(/\{(port|file|self|base)\}/g, (_, name: keyof Blanks) => String(blanks[name]));
}

/** File of the hostile server. A text or bytes are sent with status 200; a function writes the response. */
export type HostileFile =
  | string
  | Buffer
  | ((response: ServerResponse) => void)
  | { status?: number; headers?: Record<string, string>; body?: string };

/**
 * Site of a vector; its `entry` is opened. `ok.ts`, `init.mp4`, `key` and `ok.m3u8` exist and are valid unless the
 * vector replaces them.
 */
export type Site = { name: string; entry: string; files: Record<string, HostileFile> };
