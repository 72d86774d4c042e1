import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stream, videoArguments } from '../../../cli/commands/stream.ts';
import { startLiveHls } from '../../../cli/demo/live-hls.ts';
import { openTerminal } from '../../../cli/terminal.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

const terminal = openTerminal({ TERM: 'dumb' });

describe('watchpost stream', () => {
  test('a recording of odd size is a live stream in a loop', async () => {
    const file = join(folderOfTest(), 'odd.gif');
    spawnSync('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'testsrc=size=161x91:rate=10:duration=0.5',
      file,
    ]);
    const live = await startLiveHls({
      ffmpegPath: 'ffmpeg',
      inputArgs: videoArguments(file).filter((word) => word !== '-re'),
      segmentSeconds: 1,
      listedSegments: 8,
      host: '127.0.0.1',
    });
    try {
      const list = async () => (await (await fetch(live.url)).text()).match(/#EXTINF:1\.0/g)?.length;
      await expect.poll(list).toBe(8);
    } finally {
      await live.close();
    }
  });

  test('a camera of this machine is read with its driver, in real time', () => {
    expect(videoArguments('/dev/video0').slice(0, 4)).toEqual(['-f', 'v4l2', '-i', '/dev/video0']);
  });

  test('a missing file and a file without video are named with the next step', async () => {
    const options = { port: 0, ffmpeg: '' };
    await expect(stream({ ...options, video: 'nothing.mp4' }, terminal)).rejects.toMatchObject({
      message: 'There is no file nothing.mp4',
    });
    const text = join(folderOfTest(), 'notes.txt');
    writeFileSync(text, 'no video');
    await expect(stream({ ...options, video: text }, terminal)).rejects.toThrow(
      /notes\.txt cannot be played: .*Invalid data/,
    );
  });
});
