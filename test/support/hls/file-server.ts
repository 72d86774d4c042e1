import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { openLocally } from '../servers/local-server.ts';

export type ServedFile = {
  body: Buffer | string;
  status?: number;
  headers?: Record<string, string>;
  /** Number of chunks, sent `pauseMs` apart. */
  pieces?: number;
  pauseMs?: number;
};

export type Served = ServedFile | Buffer | string | ((headers: IncomingHttpHeaders) => ServedFile);

export type FileServer = {
  url(path: string): string;
  /** Files by path without query; tests may change them at any time. */
  files: Record<string, Served>;
  /** Path and query of all requests, in order. */
  requests: string[];
  close(): Promise<void>;
};

/** Starts an HTTP server for the files of a test, with byte ranges. */
export async function serveFiles(files: Record<string, Served> = {}): Promise<FileServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    const found = served.files[path.split('?')[0] ?? ''];
    const file = typeof found === 'function' ? found(request.headers) : found;
    const plain =
      typeof file === 'string' || Buffer.isBuffer(file)
        ? { body: file }
        : (file ?? { body: '', status: 404 });
    void send(response, ranged(plain, request.headers.range));
  });
  const { url, close } = await openLocally(server);
  const served: FileServer = {
    url,
    files,
    requests,
    close,
  };
  return served;
}

function ranged(file: ServedFile, range: string | undefined): ServedFile {
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
  if (from === undefined || (file.status ?? 200) !== 200) return file;
  return { ...file, status: 206, body: Buffer.from(file.body).subarray(Number(from), Number(to) + 1) };
}

async function send(response: ServerResponse, file: ServedFile): Promise<void> {
  const { pieces = 1, pauseMs = 0 } = file;
  const body = Buffer.from(file.body);
  response.writeHead(file.status ?? 200, file.headers);
  for (let piece = 0; piece < pieces && !response.destroyed; piece += 1) {
    if (piece > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const [from, to] = [piece, piece + 1].map((count) => Math.floor((body.length * count) / pieces));
    response.write(body.subarray(from, to));
  }
  response.end();
}
