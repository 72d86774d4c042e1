import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlatformSecret } from '../../../adapters/aws/platform-secret.ts';
import { createSecret } from '../../../adapters/aws/secret.ts';
import { createPowertoolsLog } from '../../../adapters/aws/telemetry/telemetry.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createStreamCapturer } from '../../../adapters/media/stream-capturer.ts';
import { defaultPlatformSettings } from '../../../adapters/platforms/platform-settings.ts';
import { StreamFetchError, TransientError } from '../../../core/errors.ts';
import { startFakeTwitch } from '../../support/platforms/fake-twitch.ts';
import { readStandardOutput } from './standard-output.ts';

const client = new SecretsManagerClient({ region: 'eu-west-1' });
const manager = mockClient(client);
const clock = { now: new Date('2026-11-21T10:00:00.000Z') };
const now = () => clock.now;
const minutesPass = (minutes: number) => {
  clock.now = new Date(clock.now.getTime() + minutes * 60_000);
};
const readings = () => manager.commandCalls(GetSecretValueCommand).length;

let output: ReturnType<typeof readStandardOutput>;
beforeEach(() => {
  manager.reset();
  output = readStandardOutput();
});
afterEach(() => output.close());

function holding(content: unknown) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  manager.on(GetSecretValueCommand).resolves({ SecretString: text });
}

const settings = (plain = defaultPlatformSettings) =>
  createPlatformSecret(
    createSecret({ client, arn: 'arn:platforms', now }),
    plain,
    createPowertoolsLog({ level: 'debug', service: 'watchpost' }),
  );

const netscape = '.twitch.tv\tTRUE\t/\tTRUE\t0\tauth-token\ttwitch-account';

describe('createPlatformSecret', () => {
  test('the secret extends the default settings; absent and empty values are not used', async () => {
    holding({
      youtube_proxy: 'http://user:word@proxy.example:3128',
      youtube_cookies: '',
      twitch_cookies: netscape,
    });

    expect(await settings()()).toEqual({
      youtube: { ...defaultPlatformSettings.youtube, proxyUrl: 'http://user:word@proxy.example:3128' },
      twitch: { ...defaultPlatformSettings.twitch, cookies: 'auth-token=twitch-account' },
    });
  });

  test('the settings are the same object until the secret changes, which is noticed after five minutes', async () => {
    const read = settings();
    holding({ twitch_cookies: 'auth-token=one' });
    const first = await read();

    minutesPass(6);
    expect(await read()).toBe(first);
    expect(readings()).toBe(2);

    holding({ twitch_cookies: 'auth-token=two' });
    expect(await read()).toBe(first);
    minutesPass(6);
    expect((await read()).twitch.cookies).toBe('auth-token=two');
  });

  test.each([
    ['no JSON', 'SAPISID=account-secret', /expected object/],
    ['an unknown name', { youtube_cookie: 'SAPISID=account-secret' }, /youtube_cookie/],
    [
      'cookies without an account',
      { youtube_cookies: 'OTHER=account-secret' },
      /no cookie SAPISID of youtube\.com/,
    ],
    ['a proxy of another protocol', { twitch_proxy: 'socks5://a:account-secret@b' }, /twitch_proxy/],
    ['a list', { twitch_cookies: ['account-secret'] }, /twitch_cookies/],
  ])('%s is a StreamFetchError; the log contains the reason without the content', async (_, held, why) => {
    holding(held);

    const failure = await settings()().catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(StreamFetchError);
    const log = output.lines().join('\n');
    expect(JSON.parse(log).fields.why).toMatch(why);
    expect(log + String((failure as Error).stack)).not.toContain('account-secret');
    expect((failure as Error).cause).toBeUndefined();
  });

  test('an unreadable secret is reported by its error, and a transient error stays transient', async () => {
    const rejecting = (name: string) =>
      manager.on(GetSecretValueCommand).rejects(Object.assign(new Error('no'), { name }));

    rejecting('AccessDeniedException');
    await expect(settings()()).rejects.toThrow(StreamFetchError);
    expect(output.lines().join('\n')).toContain('AccessDeniedException');

    rejecting('ThrottlingException');
    await expect(settings()()).rejects.toThrow(TransientError);
  });
});

describe('capturer with the platform secret', () => {
  const signal = new AbortController().signal;
  const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
  const http = createGuardedHttp(guard);

  test('the capturer is signed in with the current secret, which is read at the first platform URL', async () => {
    const twitch = await startFakeTwitch();
    const { gqlUrl, usherUrl } = twitch;
    const platforms = settings({
      ...defaultPlatformSettings,
      twitch: { ...defaultPlatformSettings.twitch, gqlUrl, usherUrl },
    });
    const refuse = () => Promise.reject(new Error('No capture expected'));
    const ffmpeg = { run: refuse, runAll: refuse };
    const capturer = createStreamCapturer({ guard, http, ffmpeg, now, platforms });
    const look = (url: string) => capturer.probe(url, signal, 'ada').catch(() => undefined);
    const accounts = () =>
      twitch.requests.flatMap(({ path, headers }) => (path === '/gql' ? [headers.authorization] : []));

    await look(`${usherUrl}/live.m3u8`);
    expect(readings()).toBe(0);

    holding({ twitch_cookies: 'auth-token=one' });
    await look('https://www.twitch.tv/harbour_cam');
    holding({ twitch_cookies: 'auth-token=two' });
    minutesPass(6);
    await look('https://www.twitch.tv/harbour_cam');

    expect([...new Set(accounts())]).toEqual(['OAuth one', 'OAuth two']);
    expect(output.lines().join('\n')).not.toContain('OAuth');
    await http.close();
    await twitch.close();
  });
});
