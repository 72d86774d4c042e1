import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { jobStopped } from '../../adapters/openapi/examples/events.ts';
import { startLoop } from '../support/hls/looped-stream.ts';
import { installPython } from '../support/python/python-tool.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { startService } from '../support/service-process.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

const run = promisify(execFile);

test('the wheel for Python has the version of the project and passes its tests against a running service', async () => {
  const folder = folderOfTest();
  const out = join(folder, 'wheel');
  const [python, stream, service] = await Promise.all([
    installPython('pytest'),
    startLoop('testsrc2=size=320x180:rate=5'),
    startService(join(folder, 'data')),
    run(process.execPath, ['test/client/python-process.ts', '--out', out]),
  ]);
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(service.baseUrl).port) });
  const cutting = setInterval(proxy.cut, 1_200);
  try {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [wheel = ''] = globSync('*.whl', { cwd: out });
    expect(wheel).toBe(`watchpost_client-${version}-py3-none-any.whl`);
    const tests = run(
      join(python, 'bin/python'),
      ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'client/python/tests'],
      {
        env: {
          ...process.env,
          // Python imports from the archive.
          PYTHONPATH: join(out, wheel),
          PYTHONDONTWRITEBYTECODE: '1',
          BASE_URL: service.baseUrl,
          PROXY_URL: `http://127.0.0.1:${proxy.port}/api`,
          WATCHPOST_API_KEY: service.apiKey,
          STREAM_URL: stream.url,
          OPENAPI: join(out, 'openapi.json'),
          JOB_STOPPED: JSON.stringify(jobStopped),
        },
      },
    );
    await tests.catch((failed: { stdout: string }) => expect.fail(failed.stdout));
  } finally {
    clearInterval(cutting);
    await Promise.all([proxy.close(), service.kill('SIGTERM'), stream.close()]);
  }
});
