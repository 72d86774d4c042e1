import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../core/ports/observability.ts';

/**
 * Creates the store of addresses at which callers last opened the console, for links in messages of a service without
 * a public URL. A file in the data directory keeps them over restarts.
 */
export function createConsoleAddresses(dataDir: string, log: Log) {
  const path = join(dataDir, 'console-addresses.json');
  const addresses = readAddresses(path);
  return {
    /** Returns the address of a caller, without a path; undefined before the first. */
    read: (caller: string) => addresses.get(caller),
    /** Stores an address. One of this machine alone replaces no other: nobody else can open it. */
    opened: async (caller: string, origin: string): Promise<void> => {
      const before = addresses.get(caller);
      if (before === origin || (before !== undefined && isLoopback(origin))) return;
      addresses.set(caller, origin);
      await store();
    },
    /** Removes the address of an erased caller. */
    forget: async (caller: string): Promise<void> => {
      if (addresses.delete(caller)) await store();
    },
  };

  async function store(): Promise<void> {
    try {
      await writeFile(`${path}.part`, JSON.stringify(Object.fromEntries(addresses)), { mode: 0o600 });
      await rename(`${path}.part`, path);
    } catch (error) {
      log.warning('The address of the console could not be stored', { error: String(error) });
    }
  }
}

function readAddresses(path: string): Map<string, string> {
  try {
    return new Map(
      Object.entries(z.record(z.string(), z.url()).parse(JSON.parse(readFileSync(path, 'utf8')))),
    );
  } catch {
    // No console was opened yet, or the file is damaged.
    return new Map();
  }
}

function isLoopback(origin: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname);
}
