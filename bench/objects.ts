import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createImageDecoder } from '../adapters/media/ffmpeg/decode-image.ts';
import { findNetworkFiles } from '../adapters/vision/objects/packages.ts';
import { createThreadDetector } from '../adapters/vision/objects/thread-detector.ts';
import { readJpegHeader } from '../core/stream/jpeg.ts';
import { type Label, parseLabels } from './objects/labels.ts';
import {
  countFalseFrames,
  findWorstClass,
  formatScores,
  type Judged,
  scoreClasses,
  formatShare,
} from './objects/score.ts';

// Measures the object model on labelled pictures and videos: recall and precision by class and threshold, time and memory.

const thresholds = [0.15, 0.25, 0.3, 0.4];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { labels: { type: 'string', default: 'bench/objects/footage.jsonl' } },
});
const [folder] = positionals;
const files = findNetworkFiles();
if (folder === undefined || files === null) {
  const problem =
    folder === undefined ? 'Give the folder of the pictures' : 'Run npm ci to install the object model';
  throw new Error(`${problem}: npm run bench -- objects FOLDER [--labels FILE]`);
}
const labels = parseLabels(readFileSync(values.labels, 'utf8'));
const detector = createThreadDetector(files);
const decoder = createImageDecoder({ ffmpegPath: 'ffmpeg' });
const never = new AbortController().signal;

/** Returns the labelled moment as a capture has it: a JPEG of 896 pixels width. */
function capture({ file, seconds }: Label, from: string): Uint8Array {
  const seek = seconds === undefined ? [] : ['-ss', `${seconds}`];
  const jpeg = [
    '-frames:v',
    '1',
    '-vf',
    'scale=896:-2',
    '-q:v',
    '3',
    '-c:v',
    'mjpeg',
    '-pix_fmt',
    'yuvj420p',
  ];
  const args = [
    '-nostdin',
    '-v',
    'error',
    '-i',
    join(from, file),
    ...seek,
    ...jpeg,
    '-f',
    'image2pipe',
    'pipe:1',
  ];
  const run = spawnSync('ffmpeg', args, { maxBuffer: 1 << 26 });
  if (run.status !== 0 || run.stdout.length === 0) throw new Error(`${file}: ${run.stderr.toString()}`);
  return run.stdout;
}

const judged: Judged[] = [];
const milliseconds: number[] = [];
for (const label of labels) {
  const jpeg = capture(label, folder);
  const size = detector.inputSize(readJpegHeader(jpeg) ?? { width: 16, height: 9 });
  const rgb = await decoder.decode(jpeg, size, never);
  const startedAt = performance.now();
  judged.push({ label, detections: await detector.detect({ ...size, rgb }, never) });
  milliseconds.push(performance.now() - startedAt);
}
const [first = 0, ...later] = milliseconds;
const sorted = later.toSorted((a, b) => a - b);
const quantile = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? first);
const lines = [
  `${labels.length} labelled frames of ${new Set(labels.map(({ file }) => file)).size} files`,
  ...formatScores(thresholds.flatMap((threshold) => scoreClasses(judged, threshold))),
  ...thresholds.map(
    (threshold) =>
      `frames with a false object other than a person, at ${threshold}: ${countFalseFrames(judged, threshold)} of ${labels.length}`,
  ),
  ...thresholds.map((threshold) => {
    const worst = findWorstClass(judged, threshold);
    const words = worst
      ? `${worst.object}, ${worst.falseFrames} of ${worst.emptyFrames} (${formatShare(worst.falseFrames, worst.emptyFrames)})`
      : 'none';
    return `most false frames of a single class other than a person, at ${threshold}: ${words}`;
  }),
  `time of the network: first ${Math.round(first)} ms (with loading), median ${quantile(0.5)} ms, 95 % within ${quantile(0.95)} ms`,
  `memory of the process: ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
];
process.stdout.write(`${lines.join('\n')}\n`);
await detector.close();
