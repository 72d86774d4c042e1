import type { Limits } from '../../core/dependencies.ts';
import type { Settings } from '../settings.ts';

/**
 * Limits of the embedded service. Capture and model limits are below the task timeouts of the workflow (60 s and 150
 * s).
 */
export function createLimits(settings: Settings): Limits {
  return {
    jobsPerCaller: settings.jobsPerCaller,
    watchesPerCaller: settings.watchesPerCaller,
    maxJobSeconds: settings.maxJobSeconds,
    retentionSeconds: settings.retentionSeconds,
    modelGraceSeconds: settings.modelGraceSeconds,
    // A camera can take 15 s to respond, 20 s to its next key frame and 10 s for the longest clip.
    captureTimeoutSeconds: 50,
    visionTimeoutSeconds: 90,
    lostCameraSeconds: 30,
    wakesOnMotion: true,
    memoryDays: settings.memoryDays,
    ...(settings.clipMb > 0 && { evidenceClip: { before_seconds: 8, after_seconds: 8 } }),
  };
}
