import { paginateListServiceQuotas, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { units, type SourceKind } from '../../../adapters/aws/usage-units.ts';
import type { InputMode } from '../../../core/records/capture.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';

/** Applied quota of an account, by the name that Service Quotas shows. */
export type AppliedQuota = { name: string; value: number };

/**
 * Applied quotas of a model. Absent where Service Quotas lists none under the name of the model. `accountTokensPerDay`
 * is that of all models together, which new accounts have.
 */
export type ModelQuotas = Partial<
  Record<'tokensPerMinute' | 'requestsPerMinute' | 'tokensPerDay' | 'accountTokensPerDay', number>
>;

/** Reads the applied quotas of a service: `ListServiceQuotas` returns the value of the account, not the default. */
export async function readQuotas(client: ServiceQuotasClient, serviceCode: string): Promise<AppliedQuota[]> {
  const quotas: AppliedQuota[] = [];
  for await (const { Quotas = [] } of paginateListServiceQuotas({ client }, { ServiceCode: serviceCode }))
    for (const { QuotaName: name, Value: value } of Quotas)
      if (name !== undefined && value !== undefined) quotas.push({ name, value });
  return quotas;
}

/**
 * Finds the quotas of a model by their names (docs.aws.amazon.com/bedrock/latest/userguide/quotas-runtime.html and
 * quotas-increase.html): tokens and requests per minute across regions or on demand, tokens per day, and "Cross-Model
 * Max Tokens Per Day".
 */
export function findModelQuotas(quotas: readonly AppliedQuota[], modelId: string): ModelQuotas {
  const isProfile = geography.test(modelId);
  const scope = isProfile ? /^cross-region/i : /^on-demand/i;
  const ofModel = quotas.filter(
    ({ name }) => normalize(name.split(/ for /i)[1] ?? '') === toModelName(modelId),
  );
  const perMinute = ofModel.find(({ name }) => scope.test(name) && /tokens per minute/i.test(name));
  // The least of several, as of both scopes.
  const least = (all: readonly AppliedQuota[], pattern: RegExp) => {
    const values = all.filter(({ name }) => pattern.test(name)).map(({ value }) => value);
    return values.length === 0 ? undefined : Math.min(...values);
  };
  const requests = ofModel.filter(({ name }) => scope.test(name) || !/^(cross-region|on-demand)/i.test(name));
  const requestsPerMinute = least(requests, /requests per minute/i);
  const tokensPerDay = least(ofModel, /tokens per day/i);
  const accountTokensPerDay = least(quotas, /^cross-model max tokens per day/i);
  return {
    ...(perMinute && { tokensPerMinute: perMinute.value }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerDay !== undefined && { tokensPerDay }),
    ...(accountTokensPerDay !== undefined && { accountTokensPerDay }),
  };
}

/** Finds the refill rate of state transitions of Standard workflows, per second. */
export function findTransitionRate(quotas: readonly AppliedQuota[]): number | undefined {
  return quotas.find(({ name }) => /state ?transition/i.test(name) && /per second|refill/i.test(name))?.value;
}

/**
 * Finds the quota of distributions of an account (docs.aws.amazon.com/general/latest/gr/cf_region.html). Its region is
 * us-east-1.
 */
export function findDistributionQuota(quotas: readonly AppliedQuota[]): number | undefined {
  return quotas.find(({ name }) => /^(web )?distributions per (aws )?account$/i.test(name))?.value;
}

/**
 * Finds the quota of response headers policies, of which an account has 20 by default (the same page as for
 * distributions).
 */
export function findHeaderPolicyQuota(quotas: readonly AppliedQuota[]): number {
  return (
    quotas.find(({ name }) => /response headers? polic(y|ies) per (aws )?account$/i.test(name))?.value ?? 20
  );
}

/** Returns the id of the model behind an inference profile of a geography. */
export function toFoundationModel(modelId: string): string {
  return modelId.replace(geography, '');
}

const geography = /^[a-z]{2,6}(-gov)?\.(?=[a-z0-9]+\.)/;

/** Returns `amazon nova lite` for `eu.amazon.nova-lite-v1:0`: quotas have names, no ids. */
function toModelName(modelId: string): string {
  return normalize(toFoundationModel(modelId).replace(/(-\d{8})?(-v\d+)?(:\d+)?$/, ''));
}

function normalize(name: string): string {
  return name
    .replace(/\(.*$/, '')
    .replace(/\bv\d+\b/i, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim();
}

/** Part of the unreserved executions that ticks may use; the rest is for callers, webhooks and peaks. */
const shareOfTicks = 0.5;

/**
 * Returns the executions of `capture` and `analyze` that a stream uses on average, with a capture and a check each
 * interval.
 */
export function executionsPerStream(source: SourceKind, mode: InputMode, intervalSeconds: number) {
  const analyzeSeconds = units.analyze.secondsWithoutModel + units.analyze.modelSeconds[mode];
  return {
    capture: (units.capture.seconds[mode] + units.capture.extraSeconds[source]) / intervalSeconds,
    analyze: analyzeSeconds / intervalSeconds,
  };
}

/**
 * Returns the streams that the executions of an account carry: the least of what each function may use. A reservation
 * is also a ceiling; functions without one share a half of the rest.
 */
export function countStreams(
  limit: number,
  reserved: StageSettings['reservedConcurrency'],
  { source, mode, intervalSeconds }: { source: SourceKind; mode: InputMode; intervalSeconds: number },
): number {
  const needed = executionsPerStream(source, mode, intervalSeconds);
  const functions = ['capture', 'analyze'] as const;
  const rest = shareOfTicks * (limit - sumReserved(reserved));
  const sharing = functions.filter((name) => reserved[name] === undefined);
  const sharedNeed = sharing.reduce((sum, name) => sum + needed[name], 0);
  const ceilings = functions.map((name) => (reserved[name] ?? Infinity) / needed[name]);
  // Rounded first: 100 / 0.3 of a quotient is 333.3, but 3 / 0.1 is 29.99.
  return Math.max(
    0,
    Math.floor(Math.round(10 * Math.min(...ceilings, sharedNeed > 0 ? rest / sharedNeed : Infinity)) / 10),
  );
}

export function sumReserved(reserved: StageSettings['reservedConcurrency']): number {
  return Object.values(reserved).reduce((sum, each) => sum + each, 0);
}
