import { checkOutputTokens } from '../../adapters/vision/prompt.ts';
import type { StageSettings } from '../stage/stage-settings.ts';
import type { AccountFacts, Attempt } from './facts.ts';

/** Result of a check: green passes, yellow is a risk, red stops a deployment. */
export type PreflightResult = {
  check: string;
  level: 'green' | 'yellow' | 'red';
  found: string;
  /** Next step; absent if there is nothing to do. */
  next?: string;
};

type Stage = Pick<
  StageSettings,
  'reservedConcurrency' | 'modelTokensPerMinute' | 'burstSeconds' | 'architecture' | 'domain'
>;

/** Executions that Lambda keeps unreserved (Lambda guide, reserved concurrency). */
const minUnreserved = 100;
/** Tokens per minute of a stream with a check of a frame every 10 s: input and reserved output. */
const tokensPerStreamMinute = 6 * (1_250 + checkOutputTokens);
/** Executions of a stream with a check every 10 s: `capture` and `analyze`, with the model call. */
const executionsPerStream = 0.4;

/** Returns the results of all checks, in the order in which a deployment needs them. */
export function checkAccount(facts: AccountFacts, settings: Stage, modelId: string): PreflightResult[] {
  return [
    checkCredentials(facts),
    checkBootstrap(facts),
    checkModel(facts.model, modelId),
    checkTokens(facts.modelQuotas, settings),
    checkConcurrency(facts.concurrency, settings),
    checkTransitions(facts.transitionsPerSecond, settings),
    checkLayer(facts, settings),
    {
      check: 'CloudFront',
      level: 'yellow',
      found: 'No API states if a new account may create a distribution.',
      next: 'If the deployment says that the account must be verified, open a case with AWS Support.',
    },
  ];
}

/** Returns the exit code: 1 if a result is red. */
export function toExitCode(results: readonly PreflightResult[]): 0 | 1 {
  return results.some(({ level }) => level === 'red') ? 1 : 0;
}

function checkCredentials({ region, concurrency }: AccountFacts): PreflightResult {
  const check = 'credentials';
  if ('value' in concurrency) return { check, level: 'green', found: `AWS answers in ${region}.` };
  const { name, message } = concurrency.error;
  return {
    check,
    level: 'red',
    found: `${name}: ${message}`,
    next: 'Set AWS_PROFILE or log in (aws sso login), and permit lambda:GetAccountSettings. A service control policy can forbid the region.',
  };
}

function checkBootstrap({ region, bootstrappedRegions }: AccountFacts): PreflightResult {
  const check = 'bootstrap';
  if ('error' in bootstrappedRegions)
    return {
      check,
      level: 'yellow',
      found: `The buckets cannot be listed (${bootstrappedRegions.error.name}).`,
      next: 'Run npx cdk bootstrap; it changes nothing if the region has been bootstrapped.',
    };
  return bootstrappedRegions.value.includes(region)
    ? { check, level: 'green', found: `${region} has been bootstrapped.` }
    : {
        check,
        level: 'red',
        found: `${region} has not been bootstrapped.`,
        next: 'Run npx cdk bootstrap.',
      };
}

function checkModel(model: AccountFacts['model'], modelId: string): PreflightResult {
  const check = 'model access';
  if ('value' in model) return { check, level: 'green', found: `${modelId} answers.` };
  const { name, message } = model.error;
  return { check, level: 'red', found: `${modelId}: ${name}: ${message}`, next: modelRemedy(name, message) };
}

function modelRemedy(name: string, message: string): string {
  if (name === 'ValidationException' && /operation not allowed/i.test(message))
    return 'The account has 0 tokens per minute for the model. Ask AWS Support to open it.';
  if (/^(Credentials|ExpiredToken|UnrecognizedClient)/.test(name)) return 'Fix the credentials first.';
  if (name === 'AccessDeniedException')
    return 'Permit bedrock:InvokeModel, accept the terms of the model in its catalog, or look for a service control policy.';
  if (name === 'ThrottlingException')
    return 'The tokens per minute or per day are used up or 0: request more in Service Quotas → Amazon Bedrock.';
  return 'Set modelId to a model or inference profile of the region, or bedrockRegion to another region.';
}

function checkTokens(
  quotas: AccountFacts['modelQuotas'],
  { modelTokensPerMinute: stated }: Stage,
): PreflightResult {
  const check = 'model tokens';
  const need = `A stream takes about ${tokensPerStreamMinute} tokens per minute at 10 s`;
  const applied = 'value' in quotas ? quotas.value : {};
  const perMinute = applied.tokensPerMinute ?? stated;
  if (perMinute === undefined)
    return {
      check,
      level: 'yellow',
      found: `${need}; ${'error' in quotas ? `the quotas are not readable (${quotas.error.name})` : 'Service Quotas lists none under the name of the model'}.`,
      next: 'Set modelTokensPerMinute to the applied quota (Service Quotas → Amazon Bedrock, tokens per minute of the model), or permit servicequotas:ListServiceQuotas.',
    };
  const streams = Math.floor(perMinute / tokensPerStreamMinute);
  const streamsPerDay = Math.floor((applied.tokensPerDay ?? Infinity) / (tokensPerStreamMinute * 1440));
  const found = `${need}: ${perMinute} carry ${streams === 0 ? 'none' : `${streams} streams`}`;
  const more = 'Request more tokens: Service Quotas → Amazon Bedrock.';
  if (streams === 0 || streamsPerDay === 0)
    return {
      check,
      level: 'red',
      found: `${found}${streams > 0 ? `; ${applied.tokensPerDay} per day carry none for a whole day` : ''}.`,
      next: more,
    };
  if (streamsPerDay < streams)
    return {
      check,
      level: 'yellow',
      found: `${found}; ${applied.tokensPerDay} per day carry ${streamsPerDay} for a whole day.`,
      next: more,
    };
  return { check, level: 'green', found: `${found}.` };
}

function checkConcurrency(
  concurrency: AccountFacts['concurrency'],
  { reservedConcurrency }: Stage,
): PreflightResult {
  const check = 'Lambda concurrency';
  if ('error' in concurrency) return unread(check, concurrency);
  const { limit } = concurrency.value;
  const reserved = Object.values(reservedConcurrency).reduce((sum, each) => sum + each, 0);
  const request = 'Request more: Service Quotas → Lambda → Concurrent executions.';
  if (reserved > 0 && limit - reserved < minUnreserved)
    return {
      check,
      level: 'red',
      found: `The stage reserves ${reserved} of ${limit} executions; Lambda keeps ${minUnreserved} unreserved.`,
      next: `${request} Until then, remove reservedConcurrency from the stage.`,
    };
  const streams = Math.floor((limit - reserved) / 2 / executionsPerStream);
  const found = `${limit} executions, ${reserved} reserved: half of the rest carries ${streams} streams at 10 s.`;
  return limit < 100 ? { check, level: 'yellow', found, next: request } : { check, level: 'green', found };
}

function checkTransitions(
  rate: AccountFacts['transitionsPerSecond'],
  { burstSeconds }: Stage,
): PreflightResult {
  const check = 'Step Functions';
  const perStream = burstSeconds > 0 ? 0.02 : 0.4;
  const need = `A stream takes ${perStream} transitions per second at 10 s`;
  const value = 'value' in rate ? rate.value : null;
  const streams = value === null ? undefined : Math.floor(value / perStream);
  const found = streams === undefined ? `${need}.` : `${need}: ${value} per second carry ${streams} streams.`;
  if (burstSeconds > 0 && streams !== 0) return { check, level: 'green', found };
  if (streams === 0)
    return {
      check,
      level: 'red',
      found,
      next: 'Request more: Service Quotas → Step Functions → StateTransition.',
    };
  return {
    check,
    level: 'yellow',
    found,
    next: 'Set burstSeconds, or request more: Service Quotas → Step Functions → StateTransition.',
  };
}

function checkLayer({ layerBuilt }: AccountFacts, { architecture }: Stage): PreflightResult {
  const check = 'ffmpeg layer';
  return layerBuilt
    ? { check, level: 'green', found: `The layer for ${architecture} is built.` }
    : {
        check,
        level: 'yellow',
        found: `The layer for ${architecture} is not built.`,
        next: `Run npm run layer -- ${architecture}. It prints a checksum to confirm.`,
      };
}

function unread(check: string, { error }: Extract<Attempt<unknown>, { error: unknown }>): PreflightResult {
  return {
    check,
    level: 'yellow',
    found: `Not readable: ${error.name}.`,
    next: 'Fix the credentials first.',
  };
}
