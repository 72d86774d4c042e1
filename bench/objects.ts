/**
 * Measures the object model on labelled pictures and videos: recall and precision by class and threshold, time and
 * memory.
 * Usage: npm run bench -- objects FOLDER
 *   --labels FILE    default: bench/objects/footage.jsonl
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createImageDecoder } from '../adapters/media/ffmpeg/decode-image.ts';
import { findNetworkFiles } from '../adapters/vision/objects/packages.ts';
import { createThreadDetector } from '../adapters/vision/objects/thread-detector.ts';
import { readJpegHeader } from '../core/stream/jpeg.ts';
import { describeMachine, percent, quantile, readResidentMb } from './harness.ts';
import { countFalseFrames, type Judged, parseLabels, scoreClasses } from './objects/score.ts';

const thresholds = [0.15, 0.25, 0.3, 0.4];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { labels: { type: 'string', default: 'bench/objects/footage.jsonl' } },
});
const [folder] = positionals;
const files = findNetworkFiles();
if (folder === undefined || files === null)
  throw new Error('Run npm ci, then npm run bench -- objects FOLDER_OF_PICTURES [--labels FILE]');
const labels = parseLabels(readFileSync(values.labels, 'utf8'));
const detector = createThreadDetector(files);
const decoder = createImageDecoder({ ffmpegPath: 'ffmpeg' });
const never = new AbortController().signal;

const judged: Judged[] = [];
const milliseconds: number[] = [];
for (const label of labels) {
  const jpeg = capture(join(folder, label.file), label.seconds ?? 0);
  const size = detector.inputSize(readJpegHeader(jpeg) ?? { width: 16, height: 9 });
  const rgb = await decoder.decode(jpeg, size, never);
  const startedAt = performance.now();
  judged.push({ label, detections: await detector.detect({ ...size, rgb }, never) });
  milliseconds.push(performance.now() - startedAt);
}
const scores = thresholds.flatMap((threshold) => scoreClasses(judged, threshold));
console.table(
  scores.map(({ object, threshold, whole, found, reported, excess, emptyFrames, falseFrames }) => ({
    object,
    threshold,
    whole,
    recall: percent(found, whole),
    precision: percent(reported - excess, reported),
    'frames without it': emptyFrames,
    'false frames': `${falseFrames} (${percent(falseFrames, emptyFrames)})`,
  })),
);
for (const threshold of thresholds)
  console.log(
    `at ${threshold}: a false object other than a person in ${countFalseFrames(judged, threshold)} of ${labels.length} frames`,
  );
const [first = 0, ...later] = milliseconds;
console.log(
  `time of the network: first ${Math.round(first)} ms (with loading), median ${quantile(later, 0.5)} ms, 95 % within ${quantile(later, 0.95)} ms; ` +
    `memory of the process: ${readResidentMb().own} MB`,
);
console.log(describeMachine());
await detector.close();

/** Returns a moment as a capture has it: a JPEG of 896 pixels width. */
function capture(file: string, seconds: number): Uint8Array {
  const seek = seconds === 0 ? '' : `-ss ${seconds}`;
  const output = `${seek} -frames:v 1 -vf scale=896:-2 -q:v 3 -c:v mjpeg -pix_fmt yuvj420p -f image2pipe pipe:1`;
  const args = ['-nostdin', '-v', 'error', '-i', file, ...output.trim().split(' ')];
  const run = spawnSync('ffmpeg', args, { maxBuffer: 1 << 26 });
  if (run.status !== 0 || run.stdout.length === 0) throw new Error(`${file}: ${run.stderr.toString()}`);
  return run.stdout;
}
