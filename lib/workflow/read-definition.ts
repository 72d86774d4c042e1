import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Reads a workflow definition. */
export function readDefinition(file: string): Record<string, unknown> {
  const path = fileURLToPath(new URL(`./${file}`, import.meta.url));
  return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')));
}
