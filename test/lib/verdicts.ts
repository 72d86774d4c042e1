import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';

const file = resolve(import.meta.dirname, 'verdicts.snapshot.json');
const verdictsSchema = z.record(z.string(), z.object({ digest: z.string(), findings: z.string() }));

/**
 * Returns what a linter finds in texts. Its verdict about the same texts is read from `verdicts.snapshot.json`, since it takes ten seconds of the processor; any
 * other texts are linted, and `-u` records that.
 */
export async function verdict(
  linter: string,
  texts: readonly string[],
  lint: () => string | Promise<string>,
): Promise<string> {
  // Digests of the code and of the release differ in each commit, and no rule reads them.
  const constant = JSON.stringify(texts).replaceAll(/[0-9a-f]{10,}/g, '');
  const digest = createHash('sha256').update(constant).digest('base64url');
  const recorded = readVerdicts();
  const found = recorded[linter];
  const records = expect.getState().snapshotState.snapshotUpdateState === 'all';
  if (found?.digest === digest && !records) return found.findings;
  const findings = await lint();
  if (records)
    writeFileSync(file, `${JSON.stringify({ ...recorded, [linter]: { digest, findings } }, null, 2)}\n`);
  return findings;
}

function readVerdicts(): z.infer<typeof verdictsSchema> {
  return existsSync(file) ? verdictsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
}
