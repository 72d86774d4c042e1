import { afterEach, expect, test, vi } from 'vitest';
import { openService } from '../../../cli/service/service.ts';
import { readSettings } from '../../../cli/settings.ts';
import { createCollectedLog } from '../../adapters/embedded/log/collected-log.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

afterEach(() => void vi.useRealTimers());

test('a service that cannot be opened leaves no timer, so that its process ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  const settings = readSettings({}, { WATCHPOST_VISION: 'openai', WATCHPOST_DATA_DIR: folderOfTest() });
  const opened = openService(
    settings,
    { path: 'ffmpeg', source: 'PATH', version: '7' },
    { baseUrl: 'http://watchpost.test/api', port: 80, delivers: true },
    createCollectedLog(),
  );
  await expect(opened).rejects.toThrow('WATCHPOST_VISION_MODEL');
  expect(vi.getTimerCount()).toBe(0);
});
