import type { Job } from '../records/job.ts';
import type { CaptureOutput } from '../records/workflow.ts';

/**
 * Keys of what a tick took, and of what the job referred to before it, that nothing refers to after it. What stays: the newest picture, the
 * samples of windows that are not told yet, and the evidence of events. A clip has no use once it was judged.
 */
export function unreferencedMedia(before: Job, after: Job, captured: CaptureOutput): string[] {
  const kept = new Set(listPictures(after));
  const last = before.watch.last_frame;
  if (last?.evidence) kept.add(last.key);
  return [...new Set([...listPictures(before), ...taken(captured)])].filter((key) => !kept.has(key));
}

function listPictures(job: Job): string[] {
  const { last_frame: last } = job.watch;
  const windows = job.job_type === 'live-digest' ? job.digest.windows : [];
  return [
    ...(last ? [last.key] : []),
    ...windows.flatMap(({ samples }) => samples.map(({ frame_key: key }) => key)),
  ];
}

function taken(captured: CaptureOutput): string[] {
  if (captured.kind !== 'captured') return [];
  return captured.clip_key === null ? [captured.frame_key] : [captured.frame_key, captured.clip_key];
}
