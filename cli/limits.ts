import type { Limits } from '../core/collaborators.ts';
import type { Settings } from './settings.ts';

/** The limits of the one-machine service. Capture and model stay below the timeouts of the workflow's tasks (60 s and 150 s). */
export function limitsOf(settings: Settings): Limits {
  return {
    jobsPerCaller: settings.jobsPerCaller,
    maxJobSeconds: settings.maxJobSeconds,
    retentionSeconds: settings.retentionSeconds,
    captureTimeoutSeconds: 30,
    visionTimeoutSeconds: 90,
  };
}
