import type { Limits } from '../../dependencies.ts';
import type { VisionModel } from '../../ports/vision-model.ts';
import type { Job, Source } from '../../records/job.ts';

/** Service and model that a new job depends on. */
export type PlanDeps = {
  limits: Pick<Limits, 'maxJobSeconds' | 'wakesOnMotion'>;
  vision: Pick<VisionModel, 'capabilities' | 'model'>;
  /** True if the stream gives single pictures only. Undefined before the probe. */
  framesOnly?: boolean | undefined;
};

type FieldsOf<J extends Job> = J extends Job ? Pick<J, 'policy' | 'config' | 'state'> : never;
/** Fields that differ between the policies of jobs. */
export type PolicyFields = FieldsOf<Job>;

/** New job, as its policy plans it from a request. */
export type JobPlan<Fields extends PolicyFields = PolicyFields> = {
  fields: Fields;
  capture: Pick<Source, 'input_mode' | 'clip_duration_seconds' | 'look_back'>;
  /** Differences between the request and the job, for its caller. */
  notices: (string | undefined)[];
};

/** Describes a duration above the cap of this server. Returns undefined below it. */
export function limitNotice(wantedSeconds: number, allowedSeconds: number): string | undefined {
  return wantedSeconds > allowedSeconds ? `Limited to ${allowedSeconds} s by this server.` : undefined;
}
