import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openWebStream } from '../../../../adapters/media/web/open-stream.ts';
import { readFailure } from '../../../support/hls/watched-stream.ts';

test.each([
  ['http://camera/cam', 401, true, 'user:password@ in front of the host'],
  ['http://user:p@camera/cam', 401, true, 'rejected the user name and password'],
  ['http://camera/cam?user=a&password=b', 403, true, 'Check user name and password'],
  ['http://user:p@camera/cam', 403, true, 'Check user name and password'],
  ['http://camera/cam', 403, false, 'Check user name and password'],
  ['http://camera/cam', 404, false, 'nothing at this address'],
  ['http://camera/cam', 405, false, 'Check the URL'],
  ['http://camera/cam', 503, false, 'Try again later'],
])(
  '%s with status %i (access refused: %s) has the remedy "%s"',
  async (url, status, accessRefused, remedy) => {
    const answer = { status, url, headers: {}, body: Readable.from([]), close: () => undefined };
    const { signal } = new AbortController();
    const failure = await readFailure(
      openWebStream(async () => answer, url, { timeoutMs: 1, signal, caller: 'ada' }),
    );
    expect(failure).toMatchObject({ accessRefused, remediation: expect.stringContaining(remedy) });
  },
);

test('a camera behind a redirect to another address names it as the reason that the user name was not sent', async () => {
  const answer = { status: 401, headers: {}, body: Readable.from([]), close: () => undefined };
  const { signal } = new AbortController();
  const open = async () => ({ ...answer, url: 'https://camera/cam' });
  const failure = await readFailure(
    openWebStream(open, 'http://user:p@camera/cam', { timeoutMs: 1, signal, caller: 'ada' }),
  );
  expect(failure.remediation).toContain('redirects to another address');
});
