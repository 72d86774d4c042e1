import { frameBase64 } from '../../../adapters/openapi/examples/jobs.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import type { MakeClip } from '../../../core/records/clip.ts';
import { recordClip } from '../../../core/watch/record-clip.ts';
import { publishRun } from '../../../core/delivery/publish.ts';
import type { Scope } from '../../../core/records/key.ts';
import { openAlert } from '../watches/watch-alerts.ts';
import type { World } from '../world.ts';

/** Calls an operation by its id, with all inputs in one object, and returns the response. */
export type CallOperation = (id: string, given?: Record<string, unknown>) => Promise<any>;

const stream = { stream_url: 'https://example.com/live.m3u8' };
const monitor = { ...stream, condition: 'a ship enters the lock' };
const absentJob = { job_id: '11111111-1111-4111-8111-111111111111' };

/**
 * Calls every operation at least once, with success and failure, for tests that compare the responses with a schema.
 */
export async function tellApiStory(call: CallOperation, world: World): Promise<void> {
  await checks(call, world);
  const { job_id: jobId } = await startWatchedJob(call, world);
  await deliveries(call, world, jobId);
  await digesting(call, world);
  await watches(call, world);
  await access(call);
  await call('service');
  await call('metrics');
  await call('prometheus_metrics');
  await call('alarms');
  await call('logs', { level: 'INFO', limit: 5 });
  await call('logs', { level: 'nothing' });
}

async function checks(call: CallOperation, { script }: World) {
  await call('check_once', monitor);
  await call('advise_condition', { condition: 'Something suspicious happens.' });
  await call('check_once', { ...monitor, include_frame: true });
  script.verdicts.push(new Error('fell over'));
  await call('check_once', monitor);
  await call('check_once', { stream_url: '' });
  await call('analyze_frame', { frame_b64: frameBase64, question: 'What is it?' });
  await call('analyze_frame', { frame_b64: frameBase64, question: 'What is it?', include_frame: true });
  await call('analyze_frame', { frame_b64: 'AAAA', question: 'What is it?' });
  await call('validate_stream', stream);
  await call('validate_stream', {});
  await call('list_cameras');
  const camera = { address: '192.168.1.20', username: 'watcher', password: 'pass' };
  await call('camera_streams', camera);
  await call('camera_streams', { ...camera, address: '' });
  await call('camera_streams', { ...camera, address: '192.168.1.21' });
}

async function startWatchedJob(call: CallOperation, world: World) {
  const job = await call('live_monitor', {
    ...monitor,
    webhook_url: 'https://example.com/hook',
    idempotency_key: 'once',
  });
  await call('live_monitor', {
    ...monitor,
    webhook_url: 'https://example.com/hook',
    idempotency_key: 'once',
  });
  await call('live_monitor', { ...monitor, idempotency_key: 'once' });
  await call('live_monitor', { ...monitor, interval_seconds: 1 });
  const byId = { job_id: job.job_id };
  await call('get_job', byId);
  await call('job_frame', byId);
  const step = await world.begin({ run_id: byId.job_id, generation: 0 });
  await call('get_job', byId);
  const next = await world.tick(step);
  world.script.verdicts.push(true);
  await world.tick(next);
  await call('get_job', byId);
  await call('job_events', byId);
  await call('job_events', { ...byId, after: 1, limit: 1 });
  await call('job_events', { ...byId, limit: 0 });
  const { events } = await call('job_events', byId);
  const alert = events.find(({ type }: { type: string }) => type === 'watch_triggered');
  await call('job_picture', { ...byId, sequence: alert.data.sequence });
  await call('job_picture', { ...byId, sequence: 1 });
  await call('job_frame', byId);
  await call('cancel_job', byId);
  const second = await call('live_monitor', monitor);
  await call('cancel_job', { job_id: second.job_id });
  const third = await call('run_again', byId);
  await call('cancel_job', { job_id: third.job_id });
  await call('run_again', absentJob);
  await call('list_jobs', { limit: 1, status: 'completed' });
  await call('list_jobs');
  await call('list_jobs', { offset: -1 });
  for (const id of ['get_job', 'cancel_job', 'job_events']) await call(id, absentJob);
  await call('get_job', { job_id: 'nothing' });
  return byId;
}

async function deliveries(call: CallOperation, world: World, jobId: string) {
  for (const message of world.queued.splice(0)) await deliver(message, world.c);
  await call('list_deliveries', { job_id: jobId });
  await call('list_deliveries', { job_id: jobId, state: 'failed' });
  await call('resend_delivery', { job_id: jobId, sequence: 1 });
  await call('resend_delivery', { job_id: jobId, sequence: 99 });
  await call('get_job', { job_id: jobId });
  world.script.webhooks.push({ status: 500 });
  await call('test_webhook', { webhook_url: 'https://example.com/hook' });
  await call('test_webhook', { webhook_url: 'https://example.com/hook' });
  await call('replace_webhook_defaults', { webhook_events: ['watch_triggered', 'error'] });
  await call('replace_webhook_defaults', { webhook_events: [] });
  await call('get_webhook_defaults');
  await call('get_webhook_secret');
  await call('rotate_webhook_secret', { grace_seconds: 60 });
  await call('rotate_webhook_secret', { grace_seconds: -1 });
}

async function digesting(call: CallOperation, world: World) {
  await call('live_digest', { ...stream, window_minutes: 0 });
  const digest = await call('live_digest', {
    ...stream,
    window_minutes: 1,
    capture_interval_seconds: 30,
    max_windows: 2,
    include_frames: true,
  });
  const byId = { job_id: digest.job_id };
  let step = await world.begin({ run_id: byId.job_id, generation: 0 });
  for (let ticks = 0; ticks < 3; ticks += 1) step = await world.tick(step);
  await call('get_job', byId);
  const { events } = await call('job_events', byId);
  const summary = events.find(({ type }: { type: string }) => type === 'summary_generated');
  await call('job_picture', { ...byId, sequence: summary.data.sequence });
  await call('cancel_job', byId);
  await call('list_jobs', { job_type: 'live-digest' });
}

async function watches(call: CallOperation, world: World) {
  world.c.limits.evidenceClip = { before_seconds: 8, after_seconds: 8 };
  const destinations = [{ destination_id: 'team', type: 'webhook', url: 'https://receiver.example/hook' }];
  const conditions = [{ condition: monitor.condition }];
  const request = { name: 'Lock', ...stream, conditions, destinations, memory_days: 3, evidence_clip: {} };
  const created = await call('create_watch', { ...request, idempotency_key: 'watch' });
  await call('create_watch', { ...request, idempotency_key: 'watch' });
  await call('create_watch', { ...request, conditions: [] });
  const byId = { watch_id: created.watch_id };
  await call('preview_new_watch', request);
  await call('preview_watch', byId);
  await call('list_watches');
  await call('list_watches', { status: 'active', label: 'none' });
  await call('get_watch', byId);
  await call('change_watch', { ...byId, interval_seconds: 15, if_match: '"1"' });
  await call('change_watch', { ...byId, interval_seconds: 20, if_match: '"1"' });
  await call('change_watch', { ...byId, name: null });
  await call('pause_watch', byId);
  await call('resume_watch', byId);
  await call('test_watch', byId);
  await publishRun({ run: 'watch', run_id: created.watch_id }, world.c);
  for (const message of world.queuedForDestinations.splice(0)) await deliver(message, world.c);
  await call('list_watch_deliveries', byId);
  await call('resend_watch_delivery', { ...byId, sequence: 1, destination_id: 'team' });
  await call('resend_watch_delivery', { ...byId, sequence: 99, destination_id: 'team' });
  await call('snooze_watch', { ...byId, seconds: 60 });
  await call('snooze_watch', { ...byId, seconds: 60, condition_id: 'unknown' });
  const alertId = await openAlert(world, created.watch_id);
  await call('watch_events', byId);
  await call('watch_events', { ...byId, limit: 0 });
  await call('all_watch_events', { limit: 1 });
  await call('watch_stats', byId);
  await call('watch_frame', byId);
  await call('search_moments', { query: 'a white van' });
  await call('search_moments', { query: '' });
  await call('ask_moments', { question: 'Was a car there?' });
  await call('ask_moments', { question: ' ' });
  await call('list_alerts', { state: 'open' });
  await call('list_alerts', { limit: 0 });
  for (const id of ['get_alert', 'acknowledge_alert', 'alert_frame']) await call(id, { alert_id: alertId });
  await call('alert_clip', { alert_id: alertId });
  await storeClip(world, created.watch_id);
  await call('alert_clip', { alert_id: alertId });
  await call('get_alert', { alert_id: alertId });
  await call('watch_events', byId);
  const run = await world.c.runs.get(created.watch_id, world.c.now());
  await world.tick(await world.begin({ run_id: created.watch_id, generation: run?.generation ?? 0 }));
  const { moments } = await call('list_moments', { limit: 1 });
  await call('list_moments', { verdict: 'no' });
  const [{ moment_id, watch_id, verdicts }] = moments;
  const { condition_id } = verdicts[0];
  await call('review_moment', { moment_id, condition_id, holds: true });
  await call('review_moment', { moment_id, condition_id: 'none', holds: true });
  await call('backtest_watch', { watch_id });
  await call('backtest_watch', { watch_id, cursor: 'none' });
  for (const id of ['get_moment', 'moment_picture']) {
    await call(id, { moment_id: moments[0].moment_id });
    await call(id, { moment_id: 'absent' });
  }
  await call('review_alert', { alert_id: alertId, correct: true });
  await call('watch_stats', byId);
  await call('delete_watch', byId);
  for (const id of ['get_watch', 'delete_watch', 'watch_events', 'watch_frame']) await call(id, byId);
  await call('get_alert', { alert_id: absentJob.job_id });
}

/** Gives the newest opening a clip. */
async function storeClip(world: World, watchId: string): Promise<void> {
  const events = await world.c.watches.events(watchId, 0, 1000, world.c.now());
  const sequence = events.findLast(({ type }) => type === 'alert_opened')?.sequence ?? 0;
  const makeClip: MakeClip = async ({ key, from, to }) => {
    await world.c.media.put(key, new Uint8Array(8), 'video/mp4');
    return { kind: 'clip', bytes: 8, from, to, codec: 'avc1' };
  };
  await recordClip({ clip: watchId, sequence }, { ...world.c, makeClip });
}

async function access(call: CallOperation) {
  await call('own_key');
  await call('usage', { all: true });
  await call('usage', { from: '2026-03-02', to: '2026-03-01' });
  await call('list_callers');
  await call('add_caller', { caller: 'canal' });
  await call('add_caller', { caller: 'no name' });
  const { key_id: id } = await call('create_key', { caller: 'canal', label: 'new' });
  await call('create_key', { caller: 'nobody' });
  await call('list_keys', { caller: 'canal' });
  await call('list_keys');
  await call('relabel_key', { key_id: id, label: 'renamed' });
  const rotated = await call('rotate_key', { key_id: id, grace_seconds: 0 });
  await call('rotate_key', { key_id: id });
  await call('create_sign_in_code', { key_id: rotated.key_id });
  await call('revoke_key', { key_id: rotated.key_id });
  await call('revoke_key', { key_id: 'nothing' });
  await call('delete_caller', { caller: 'canal' });
  await call('delete_caller', { caller: 'canal' });
  await call('delete_caller', { caller: 'harbour' });
}

export async function readKey(
  { c }: World,
  scopes: Scope[] = ['jobs', 'keys', 'internal', 'admin'],
  caller = 'harbour',
): Promise<string> {
  const { text, key } = mintKey({ caller, scopes, label: null }, c.now(), c);
  await c.keys.put(key);
  return text;
}
