import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../../../adapters/openapi/document.ts';

/** `npm run check:openapi`: validates the document with Redocly's strict recommended rules, examples included. Makes no network request. */

const require = createRequire(import.meta.url);
const directory = mkdtempSync(join(tmpdir(), 'watchpost-openapi-'));
try {
  const file = join(directory, 'openapi.json');
  writeFileSync(file, JSON.stringify(openApiDocument('https://watchpost.invalid/api'), null, 2));
  const redocly = require.resolve('@redocly/cli/bin/cli.js');
  const { status } = spawnSync(process.execPath, [redocly, 'lint', file, '--config', 'redocly.yaml'], {
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
