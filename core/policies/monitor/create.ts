import { z } from 'zod';
import { apiNames } from '../../api-names.ts';
import { InvalidInputModeError, StreamWithoutClipsError } from '../../errors.ts';
import { inputModeSchema, type InputMode } from '../../records/capture.ts';
import { detectPlatform, hasSession } from '../../records/platform.ts';
import {
  condition,
  flag,
  integer,
  streamUrl,
  jobWebhookEvents,
  webhookUrl,
  labels,
} from '../../requests/fields.ts';
import { rules } from '../../rules.ts';
import { limitNotice, type PlanDeps } from '../job/policy.ts';
import { monitorRecords, type MonitorConfig } from './records.ts';

/** Body of `POST /live-monitor`. */
export const monitorRequestSchema = z.object({
  stream_url: streamUrl,
  condition,
  webhook_url: webhookUrl.nullish(),
  webhook_events: jobWebhookEvents,
  interval_seconds: integer(z.int().min(5).max(300)).default(10).describe('Seconds between checks'),
  input_mode: inputModeSchema
    .optional()
    .describe(
      'Media to capture; default: clip, or frames if the model does not support video or the stream gives single pictures',
    ),
  clip_duration_seconds: integer(z.int().min(1).max(10))
    .default(3)
    .describe('Clip length in seconds; used by clip and hybrid'),
  monitor_duration_seconds: integer(z.int().min(5))
    .default(600)
    .describe('Duration in seconds; limited by the server, see config for the resulting value'),
  trigger_cooldown_seconds: integer(z.int().min(0).max(3600))
    .default(0)
    .describe('Minimum seconds between alerts'),
  max_triggers: integer(z.int().min(1))
    .nullable()
    .default(1)
    .describe('Number of alerts after which the job completes; null: at the end of its duration'),
  enable_prefilter: flag.default(true).describe('True to skip captures without motion'),
  look_back: flag
    .default(false)
    .describe('True to scan all of the stream since the last check, and to judge the moments that differ'),
  labels,
});
apiNames.add(monitorRequestSchema, { id: 'MonitorRequest' });
type MonitorRequest = z.infer<typeof monitorRequestSchema>;

/**
 * Throws `InvalidInputModeError` for a clip that the model cannot read, `StreamWithoutClipsError` for one that the
 * stream cannot give.
 */
export function planMonitor(request: MonitorRequest, { vision, limits, framesOnly = false }: PlanDeps) {
  const config: MonitorConfig = {
    condition: request.condition,
    interval_seconds: request.interval_seconds,
    input_mode: inputModeFor(request.input_mode, vision, framesOnly),
    clip_duration_seconds: request.clip_duration_seconds,
    monitor_duration_seconds: Math.min(request.monitor_duration_seconds, limits.maxJobSeconds),
    trigger_cooldown_seconds: request.trigger_cooldown_seconds,
    max_triggers: request.max_triggers,
    enable_prefilter: request.enable_prefilter,
    ...(request.look_back && { look_back: true }),
  };
  const notices = [
    limitNotice(request.monitor_duration_seconds, config.monitor_duration_seconds),
    clipNotice(config),
    framesNotice(request, framesOnly && vision.capabilities.supportsVideo),
    lookBackNotice(request, framesOnly, limits),
    conditionNotice(request.condition, vision),
  ];
  const fields = { policy: 'monitor', config, state: monitorRecords.initialState } as const;
  return { fields, capture: config, notices };
}

/** Returns the mode of the request, else the one that fits model and stream. */
function inputModeFor(
  requested: InputMode | undefined,
  vision: PlanDeps['vision'],
  framesOnly: boolean,
): InputMode {
  if (requested === undefined) return vision.capabilities.supportsVideo && !framesOnly ? 'clip' : 'frames';
  if (requested !== 'frames' && !vision.capabilities.supportsVideo)
    throw new InvalidInputModeError(requested, vision.model);
  if (requested !== 'frames' && framesOnly) throw new StreamWithoutClipsError(requested);
  return requested;
}

function framesNotice({ input_mode: requested }: MonitorRequest, replacesClip: boolean): string | undefined {
  if (requested !== undefined || !replacesClip) return undefined;
  return 'The stream gives single pictures: checks use input_mode frames.';
}

function lookBackNotice(
  { look_back: looksBack, stream_url: url, interval_seconds: interval }: MonitorRequest,
  framesOnly: boolean,
  { wakesOnMotion }: PlanDeps['limits'],
): string | undefined {
  if (!looksBack) return undefined;
  if (framesOnly) return 'The stream gives single pictures: look_back finds none between checks.';
  const isRare = interval > rules.maxScanSeconds;
  if (hasSession(detectPlatform(url)) && (isRare || !wakesOnMotion))
    return 'This service reads an RTSP stream in its checks only: look_back finds nothing between them.';
  return isRare ? `look_back scans the ${rules.maxScanSeconds} s before each check only.` : undefined;
}

function clipNotice(config: MonitorConfig): string | undefined {
  const { input_mode, clip_duration_seconds: clip, monitor_duration_seconds: duration } = config;
  if (input_mode === 'frames' || clip < duration) return undefined;
  return `Clips of ${clip} s are not shorter than the monitor of ${duration} s: it may make one check only.`;
}

function conditionNotice(sentence: string, { model, capabilities }: PlanDeps['vision']): string | undefined {
  if (sentence.trim() === '') return 'The condition is blank: describe what the check searches for.';
  const { reasonNotToJudge: reason } = capabilities.readCondition(sentence);
  if (reason === null) return undefined;
  return `The model ${model} cannot judge this condition, so no check alerts: ${reason}.`;
}
