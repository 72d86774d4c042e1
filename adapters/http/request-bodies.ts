import { RateLimitedError, WatchpostError } from '../../core/errors.ts';
import { waitAtMost, type SetTimer } from '../../core/time-limit.ts';
import { createMiddleware } from 'hono/factory';
import type { Scope } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';

/** Request bodies that are in memory, over all requests of a process. */
export interface RequestBodies {
  /** Registers the body of one request. Call `close` after the response. */
  open(caller: string): RequestBody;
}

export type RequestBody = {
  /**
   * Reads the whole body. Throws `WatchpostError` if the body is larger than `maxBytes` or stops arriving, and
   * `RateLimitedError` if the caller, or all callers together, have too many bytes in memory.
   */
  read(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): void;
};

export type BodyLimits = {
  /** Maximum bytes in memory of one caller: three bodies of the maximum size. */
  maxBytesPerCaller: number;
  maxBytesInAll: number;
  /** Maximum time without a byte, in milliseconds. */
  maxIdleMs: number;
};

export const bodyLimits: BodyLimits = {
  maxBytesPerCaller: 16_000_000,
  maxBytesInAll: 64_000_000,
  maxIdleMs: 10_000,
};

/** Minimum bytes that an open body counts, since it also holds a connection. */
const minBytes = 16_000;
const maxDiscardedBytes = 16_000_000;
const retryAfterSeconds = 2;

export function createRequestBodies(deps: {
  setTimer: SetTimer;
  limits?: Partial<BodyLimits>;
}): RequestBodies {
  const limits = { ...bodyLimits, ...deps.limits };
  const bytesOfCallers = new Map<string, number>();
  let bytesInAll = 0;
  return {
    open: (caller) => {
      let taken = 0;
      return {
        read: async (request, maxBytes) => {
          const announced = Number(request.headers.get('content-length') ?? 0);
          if (announced > maxBytes) throw tooLargeError(maxBytes);
          grow(Math.max(announced, minBytes));
          return collect(request, maxBytes, grow);
        },
        close: () => {
          account(caller, -taken);
          taken = 0;
        },
      };

      /** Reserves the announced length before the body arrives. */
      function grow(bytes: number): void {
        if (bytes <= taken) return;
        const more = bytes - taken;
        if ((bytesOfCallers.get(caller) ?? 0) + more > limits.maxBytesPerCaller)
          throw new RateLimitedError(
            `A caller may send ${limits.maxBytesPerCaller / 1_000_000} MB of request bodies concurrently. Wait for responses, or try again in ${retryAfterSeconds} s.`,
            retryAfterSeconds,
          );
        if (bytesInAll + more > limits.maxBytesInAll)
          throw new RateLimitedError(
            `The service is at its limit of request bodies. Try again in ${retryAfterSeconds} s.`,
            retryAfterSeconds,
          );
        account(caller, more);
        taken = bytes;
      }
    },
  };

  function account(caller: string, bytes: number): void {
    bytesInAll += bytes;
    const left = (bytesOfCallers.get(caller) ?? 0) + bytes;
    if (left === 0) bytesOfCallers.delete(caller);
    else bytesOfCallers.set(caller, left);
  }

  async function collect(
    { body }: Request,
    maxBytes: number,
    grow: (bytes: number) => void,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
    try {
      for (;;) {
        const chunk = reader && (await inTime(reader.read()));
        if (chunk?.value === undefined) return concatenate(chunks, length);
        length += chunk.value.byteLength;
        if (length > maxBytes) throw tooLargeError(maxBytes);
        grow(length);
        chunks.push(chunk.value);
      }
    } catch (error) {
      if (reader) void discard(reader);
      throw error;
    }
  }

  function inTime<Chunk>(reading: Promise<Chunk>): Promise<Chunk> {
    const expire = (): never => {
      throw tooSlowError(limits.maxIdleMs / 1000);
    };
    return waitAtMost(limits.maxIdleMs, reading, expire, deps.setTimer);
  }
}

/**
 * Reads the rest of the body: a connection that closes with unread bytes is reset, which can destroy the response. The
 * server closes it soon after the response.
 */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let bytes = 0; bytes < maxDiscardedBytes;) {
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    if (value === undefined) return;
    bytes += value.byteLength;
  }
}

function concatenate(chunks: Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function tooLargeError(maxBytes: number): WatchpostError {
  const size = maxBytes < 1_000_000 ? `${maxBytes / 1000} kB` : `${maxBytes / 1_000_000} MB`;
  return new WatchpostError('PAYLOAD_TOO_LARGE', 'Request body is too large', `Send at most ${size}.`);
}

function tooSlowError(seconds: number): WatchpostError {
  return new WatchpostError(
    'REQUEST_TIMEOUT',
    'Request body did not arrive in time',
    `Send the body without pauses of ${seconds} s or longer.`,
  );
}

/**
 * Sets `readBody`, with which a handler reads at most `maxBytes` of the body. Runs after `bearerAuth`: the body of a
 * request without a key, or without a handler for it, is not read.
 */
export function limitBodies(
  { bodies }: { bodies: RequestBodies },
  maxBytes: (scopes: readonly Scope[]) => number,
) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const body = bodies.open(context.get('key').caller);
    context.set('readBody', () => body.read(context.req.raw, maxBytes(context.get('key').scopes)));
    try {
      await next();
    } finally {
      body.close();
    }
  });
}
