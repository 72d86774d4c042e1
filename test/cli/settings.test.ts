import { expect, test } from 'vitest';
import { readSettings, SettingsError } from '../../cli/settings.ts';

test('all settings have defaults', () => {
  expect(readSettings({}, {})).toMatchObject({
    port: 8787,
    host: '127.0.0.1',
    dataDir: '.watchpost',
    allowRanges: [],
    allowWebhookRanges: [],
    vision: 'auto',
    maxJobSeconds: 600,
    ffmpeg: '',
  });
});

test('flags win over variables', () => {
  const env = { WATCHPOST_PORT: '9000', WATCHPOST_ALLOW_RANGES: '10.0.0.0/8, fd00::/8' };
  expect(readSettings({}, env)).toMatchObject({ port: 9000, allowRanges: ['10.0.0.0/8', 'fd00::/8'] });
  expect(readSettings({ port: '9001' }, env).port).toBe(9001);
});

test('the address of a camera is a range of one host', () => {
  expect(readSettings({ allowRanges: '192.168.1.20, fd00::5' }, {}).allowRanges).toEqual([
    '192.168.1.20',
    'fd00::5',
  ]);
});

test.each([
  ['WATCHPOST_PORT', 'http'],
  ['WATCHPOST_PORT', '65536'],
  ['WATCHPOST_MAX_JOB_SECONDS', '4'],
  ['WATCHPOST_VISION', 'eyes'],
  ['WATCHPOST_ALLOW_RANGES', '10.0.0.0'],
  ['WATCHPOST_ALLOW_RANGES', 'fd00::'],
  ['WATCHPOST_ALLOW_RANGES', 'camera.local'],
  ['WATCHPOST_ALLOW_WEBHOOK_RANGES', '10.0.0.0'],
  ['WATCHPOST_OPENAI_URL', 'not a url'],
  ['WATCHPOST_OPENAI_API_KEY', 'sk-or-v1-…'],
])('the setting %s=%s is rejected with the name of its variable', (variable, value) => {
  expect(() => readSettings({}, { [variable]: value })).toThrow(SettingsError);
  expect(() => readSettings({}, { [variable]: value })).toThrow(variable);
});

test('all invalid settings are named in one message', () => {
  expect(() => readSettings({}, { WATCHPOST_PORT: 'x', WATCHPOST_VISION: 'y' })).toThrow(
    /WATCHPOST_PORT[^]*WATCHPOST_VISION/,
  );
});
