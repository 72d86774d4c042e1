import type { Limits } from '../core/dependencies.ts';
import type { Settings } from './settings.ts';

/** The limits of the one-machine service. Capture and model stay below the timeouts of the workflow's tasks (60 s and 150 s). */
export function createLimits(settings: Settings): Limits {
  return {
    jobsPerCaller: settings.jobsPerCaller,
    maxJobSeconds: settings.maxJobSeconds,
    retentionSeconds: settings.retentionSeconds,
    // A camera may take 15 s to answer, 20 s to its next key frame and 10 s for the longest clip.
    captureTimeoutSeconds: 50,
    visionTimeoutSeconds: 90,
  };
}
