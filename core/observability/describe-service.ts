import type { z } from 'zod';
import type { Limits } from '../dependencies.ts';
import type { Cameras } from '../ports/cameras.ts';
import type { Destinations } from '../ports/delivery.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { serviceResponseSchema } from '../responses/observability.ts';
import { maskRecipient } from '../mask-recipient.ts';

type Deps = {
  version: string;
  cameras?: Cameras;
  limits: Pick<Limits, 'maxJobSeconds' | 'retentionSeconds' | 'jobsPerCaller'>;
  destinations: Pick<Destinations, 'offered'>;
  vision: Pick<VisionModel, 'provider' | 'model' | 'capabilities'>;
};

/** Returns the version, the limits and the model of this service, as a caller needs them for a request. */
export function describeService({
  version,
  limits,
  vision,
  cameras,
  destinations: { offered },
}: Deps): z.input<typeof serviceResponseSchema> {
  return {
    version,
    limits: {
      max_job_seconds: limits.maxJobSeconds,
      retention_seconds: limits.retentionSeconds,
      jobs_per_caller: limits.jobsPerCaller,
    },
    discovers_cameras: cameras !== undefined,
    destination_types: [...offered.types],
    email_recipients: offered.recipients.map(maskRecipient),
    model: {
      provider: vision.provider,
      name: vision.model,
      supports_video: vision.capabilities.supportsVideo,
      condition_examples: [...vision.capabilities.conditionExamples],
    },
  };
}
