import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPlatformSettings } from '../../../adapters/platforms/platform-settings.ts';
import { loadPlatformSettings } from '../../../cli/service/platforms.ts';
import { readSettings, SettingsError } from '../../../cli/settings.ts';
import { livePlayer } from '../../support/platforms/fake-youtube.ts';
import { liveVideoId, startLivePlatforms } from '../../support/platforms/live-platforms.ts';
import type { LivePlatforms } from '../../support/platforms/live-platforms.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/** Started service with platform accounts, and the platforms on this machine. */

const dataDir = folderOfFile();
const secrets = { youtube: 'yt-account-secret', twitch: 'tw-account-secret' };
let platforms: LivePlatforms;
let service: ServiceProcess;
const pages = () => Object.entries(platforms.urls);

beforeAll(async () => {
  platforms = await startLivePlatforms('color=red:size=320x180:rate=5');
  service = await startService(dataDir, {
    ...platforms.variables,
    WATCHPOST_LOG_LEVEL: 'debug',
    WATCHPOST_YOUTUBE_COOKIES: cookieFile('youtube', `SAPISID=${secrets.youtube}`),
    WATCHPOST_TWITCH_COOKIES: cookieFile('twitch', `auth-token=${secrets.twitch}`),
  });
});
afterAll(async () => {
  await service.kill('SIGTERM');
  await platforms.close();
});

function cookieFile(name: string, content: string): string {
  const file = join(dataDir, `${name}-cookies.txt`);
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

async function ended(jobId: string) {
  for (let waited = 0; waited < 200; waited += 1) {
    const { body } = await service.call('GET', `/jobs/${jobId}`);
    if (!['pending', 'running'].includes(body.status)) return body;
    await sleep(100);
  }
  throw new Error(`It does not end\n${service.output()}`);
}

function monitor(streamUrl: string, fields: object = {}) {
  return service.call('POST', '/live-monitor', {
    stream_url: streamUrl,
    condition: 'The picture is mostly red',
    input_mode: 'frames',
    interval_seconds: 5,
    ...fields,
  });
}

describe('a broadcast on a platform', () => {
  test('a broadcast is monitored until the condition is true', async () => {
    for (const [platform, url] of pages()) {
      const { status, body } = await monitor(url, { max_triggers: 1 });
      expect([platform, status, body]).toMatchObject([platform, 200, { status: expect.any(String) }]);
      expect(await ended(body.job_id)).toMatchObject({ status: 'completed', stats: { triggers_fired: 1 } });
    }
  });

  test('a broadcast is monitored through a playlist that expires early, until it ends', async () => {
    const { body } = await monitor(platforms.urls.youtube, { condition: 'The picture is entirely black' });
    const stats = async () => (await service.call('GET', `/jobs/${body.job_id}`)).body.stats;
    while ((await stats()).last_check < 1) await sleep(100);
    platforms.youtube.revoked = platforms.youtube.requests
      .filter(({ path }) => path.includes('/hls_playlist/'))
      .map(({ path }) => path);
    // The next playlist expires later and so has another URL.
    const later = platforms.youtube.manifestUrl(liveVideoId, new Date(Date.now() + 7_200_000));
    platforms.youtube.player = () => livePlayer(liveVideoId, later);
    while ((await stats()).last_check < 2) await sleep(100);
    expect(await stats()).toMatchObject({ failed_captures: 0 });
    platforms.youtube.revoked = ['/expire/'];
    platforms.youtube.player = () => livePlayer(liveVideoId, undefined, { isLive: false });
    expect(await ended(body.job_id)).toMatchObject({ status: 'stopped', stats: { reason: 'stream_ended' } });
  });

  test('an ended broadcast is not live, and a job for it is rejected', async () => {
    const { body } = await service.call('POST', '/streams/validate', { stream_url: platforms.urls.youtube });
    expect(body).toMatchObject({
      is_live: false,
      platform: 'youtube',
      title: 'Harbour live',
      error_hint: expect.stringMatching(/ended/),
    });
    expect((await monitor(platforms.urls.youtube)).body.error).toMatchObject({
      code: 'NOT_LIVESTREAM',
      message: 'URL is not a live stream',
    });
  });
});

test('no signed URL and no account data is stored, logged or returned', async () => {
  const jobs = await service.call('GET', '/jobs');
  const database = new DatabaseSync(join(dataDir, 'watchpost.sqlite'), { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const stored = tables.map(({ name }) =>
    JSON.stringify(database.prepare(`select * from "${String(name)}"`).all()),
  );
  database.close();
  for (const [where, text] of [
    ['answers', JSON.stringify(jobs.body)],
    ['log', service.output()],
    ['database', stored.join('\n')],
    ['files', readFileSync(join(dataDir, 'watchpost.json'), 'utf8')],
  ] as const) {
    const leaked = ['/expire/', 'sig=', 'session-1', 'user_ip', ...Object.values(secrets)].filter((part) =>
      text.includes(part),
    );
    expect([where, leaked]).toEqual([where, []]);
  }
  expect(stored.join('\n')).toContain('watch?v=');
});

describe('settings of platforms', () => {
  test.each([
    ['WATCHPOST_YOUTUBE_COOKIES', '/nowhere/cookies.txt', /WATCHPOST_YOUTUBE_COOKIES.*cannot be read/],
    ['WATCHPOST_TWITCH_COOKIES', 'package.json', /no cookie auth-token of twitch\.tv/],
    ['WATCHPOST_YOUTUBE_PROXY', 'socks5://127.0.0.1:1080', /WATCHPOST_YOUTUBE_PROXY/],
    ['WATCHPOST_YOUTUBE_CLIENTS', ' , ', /WATCHPOST_YOUTUBE_CLIENTS.*at least one/],
    ['WATCHPOST_TWITCH_GQL_URL', 'twitch', /WATCHPOST_TWITCH_GQL_URL/],
  ])('the setting %s=%s is rejected with the name of its variable', async (variable, value, complaint) => {
    const reading = (async () => loadPlatformSettings(readSettings({}, { [variable]: value })))();
    await expect(reading).rejects.toThrow(SettingsError);
    await expect(reading).rejects.toThrow(complaint);
  });

  test('the default settings address the real platforms', async () => {
    expect(await loadPlatformSettings(readSettings({}, {}))).toEqual(defaultPlatformSettings);
  });
});
