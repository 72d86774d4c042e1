import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { viewerHostHeader } from '../../../adapters/aws/http/origin-headers.ts';
import { passViewerHost, showConsolePage } from '../../../lib/edge/viewer-functions.ts';

describe('passViewerHost', () => {
  test('passViewerHost sends the requested host in a header', () => {
    const { headers } = handle(passViewerHost, { headers: { host: { value: 'watch.example.com' } } });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });

  test('passViewerHost overwrites a header of that name from the viewer', () => {
    const { headers } = handle(passViewerHost, {
      headers: { host: { value: 'watch.example.com' }, [viewerHostHeader]: { value: 'evil.example' } },
    });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });
});

describe('showConsolePage', () => {
  test.for([
    ['/console', '/console/index.html'],
    ['/console/', '/console/index.html'],
    ['/console/jobs/1b7f', '/console/index.html'],
    ['/console/assets/main-1a2b.js', '/console/assets/main-1a2b.js'],
  ])('showConsolePage maps %s to %s', ([uri, file]) => {
    expect(handle(showConsolePage, { uri }).uri).toBe(file);
  });
});

function handle(code: string, request: object): any {
  return runInNewContext(`${code}; handler({ request })`, { request });
}
