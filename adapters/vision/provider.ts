import type { ContactSheets } from '../../core/ports/contact-sheets.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';

/** Model as `/metrics` and job creation see it, known without a request. */
export type DescribedModel = Pick<
  VisionModel,
  'provider' | 'model' | 'supportsVideo' | 'conditionExamples' | 'reasonNotToJudge'
>;

/** IAM permission that the calls of a provider need. */
export type VisionPermission = {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, unknown>>;
  /** Reason for a `*` in a resource. */
  wildcardReason?: string;
};

/** Dependencies of a model in a function. */
export type VisionFactoryDeps = {
  sheets: ContactSheets;
};
