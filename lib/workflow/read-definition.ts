import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { projectFolder } from '../files.ts';

export function readDefinition(file: string): Record<string, unknown> {
  const text = readFileSync(`${projectFolder}lib/workflow/${file}`, 'utf8');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
