import type { SourceKind } from '../../../adapters/aws/usage-units.ts';
import { checkOutputTokens } from '../../../adapters/vision/prompt.ts';
import { countStreams, sumReserved, type ModelQuotas } from './quotas.ts';
import { describeEdgeLogs, supportsEdgeLogs } from '../../stages/region.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import type { AccountFacts } from './facts.ts';
import type { PolicyDecision } from './policies.ts';
import { about, type PreflightResult } from './result.ts';

type Stage = Pick<
  StageSettings,
  | 'account'
  | 'reservedConcurrency'
  | 'modelTokensPerMinute'
  | 'burstSeconds'
  | 'architecture'
  | 'domain'
  | 'alarmEmail'
  | 'alarmTopicArn'
>;

const maxActionsShown = 5;

/** Executions that Lambda keeps unreserved (Lambda guide, reserved concurrency). */
const minUnreserved = 100;
/** Tokens per minute of a stream with a check of a frame every 10 s: input and reserved output. */
const tokensPerStreamMinute = 6 * (1_250 + checkOutputTokens);
/** Calls per minute of a stream with a check every 10 s. */
const requestsPerStreamMinute = 6;

/** Returns the results of all checks, in the order in which a deployment needs them. */
export function checkAccount(facts: AccountFacts, settings: Stage, modelId: string): PreflightResult[] {
  return [
    checkCredentials(facts, settings),
    checkBootstrap(facts),
    checkModel(facts.model, modelId),
    checkLifecycle(facts.lifecycle, modelId),
    checkTokens(facts.modelQuotas, settings),
    checkConcurrency(facts.concurrency, settings),
    checkTransitions(facts.transitionsPerSecond, settings),
    checkLayer(facts, settings),
    checkAlarms(settings),
    checkDistributions(facts.distributions),
    checkHeaderPolicies(facts.headerPolicies),
    checkDeployment(facts.deployment),
    checkAssumption(facts.assumption),
  ];
}

/** Returns the exit code: 1 if a result is red. */
export function toExitCode(results: readonly PreflightResult[]): 0 | 1 {
  return results.some(({ level }) => level === 'red') ? 1 : 0;
}

function checkCredentials(
  { region, account, concurrency }: AccountFacts,
  { account: pinned }: Stage,
): PreflightResult {
  const { green, red } = about('credentials');
  if (pinned !== undefined && 'value' in account && account.value !== pinned)
    return red(
      `They are of account ${account.value}, and the stage is for ${pinned}.`,
      'Set AWS_PROFILE to a profile of that account.',
    );
  if ('value' in concurrency) return green(`AWS answers in ${region}.`);
  const { name, message } = concurrency.error;
  return red(
    `${name}: ${message}`,
    'Set AWS_PROFILE or log in (aws sso login), and permit lambda:GetAccountSettings. A service control policy can forbid the region.',
  );
}

function checkBootstrap({ region, bootstrappedRegions }: AccountFacts): PreflightResult {
  const { green, yellow, red } = about('bootstrap');
  if ('error' in bootstrappedRegions)
    return yellow(
      `The buckets cannot be listed (${bootstrappedRegions.error.name}).`,
      'Run npx cdk bootstrap; it changes nothing if the region has been bootstrapped.',
    );
  return bootstrappedRegions.value.includes(region)
    ? green(`${region} has been bootstrapped.`)
    : red(`${region} has not been bootstrapped.`, 'Run npx cdk bootstrap.');
}

function checkModel(model: AccountFacts['model'], modelId: string): PreflightResult {
  const { green, red } = about('model access');
  if ('value' in model) return green(`${modelId} answers.`);
  const { name, message } = model.error;
  return red(`${modelId}: ${name}: ${message}`, modelRemedy(name, message));
}

/**
 * New accounts cannot call a model in its legacy period
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-lifecycle.html).
 */
function checkLifecycle(lifecycle: AccountFacts['lifecycle'], modelId: string): PreflightResult {
  const { green, yellow } = about('model lifecycle');
  if ('error' in lifecycle)
    return yellow(
      `Bedrock does not tell it (${lifecycle.error.name}).`,
      'Permit bedrock:GetFoundationModel.',
    );
  const { status = 'unknown', end } = lifecycle.value;
  if (status === 'ACTIVE') return green(`${modelId} is active.`);
  const finding = `${modelId} is ${status.toLowerCase()}${end === undefined ? '' : ` and ends on ${end.toISOString().slice(0, 10)}`}.`;
  return yellow(finding, 'Set modelId to a newer model before that.');
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

function carries({ text, streams }: { streams: number; text: string }): string {
  return `${text} carry ${streams === 0 ? 'none' : `${streams} streams`}`;
}

/**
 * Compares the quotas of the model with the need of streams. Never green for a model whose quotas Service Quotas does
 * not list.
 */
function checkTokens(
  quotas: AccountFacts['modelQuotas'],
  { modelTokensPerMinute: stated }: Stage,
): PreflightResult {
  const { green, yellow, red } = about('model quotas');
  const need = `A stream takes about ${tokensPerStreamMinute} tokens and ${requestsPerStreamMinute} calls per minute at 10 s`;
  const applied: ModelQuotas = 'value' in quotas ? quotas.value : {};
  const perMinute = applied.tokensPerMinute ?? stated;
  const perDay = tokensPerStreamMinute * 1440;
  const carried = [
    { quota: perMinute, unit: 'tokens per minute', need: tokensPerStreamMinute },
    { quota: applied.requestsPerMinute, unit: 'calls per minute', need: requestsPerStreamMinute },
    { quota: applied.tokensPerDay, unit: 'tokens per day', need: perDay },
    { quota: applied.accountTokensPerDay, unit: 'tokens per day of all models', need: perDay },
  ].flatMap(({ quota, unit, need: each }) =>
    quota === undefined ? [] : [{ streams: Math.floor(quota / each), text: `${quota} ${unit}` }],
  );
  const least = carried.toSorted((one, other) => one.streams - other.streams)[0];
  const finding = [need, ...carried.map(carries)].join('; ');
  if (least?.streams === 0) return red(`${finding}.`, 'Request more: Service Quotas → Amazon Bedrock.');
  if (applied.tokensPerMinute === undefined)
    return yellow(
      `${finding}; ${'error' in quotas ? `the quotas are not readable (${quotas.error.name})` : 'Service Quotas lists no tokens per minute under the name of the model'}.`,
      'Look up the applied quota (Service Quotas → Amazon Bedrock) and set modelTokensPerMinute to it for its alarm, or permit servicequotas:ListServiceQuotas.',
    );
  // The quotas per day and of calls are lower than that per minute in new accounts only.
  if (least !== undefined && least !== carried[0] && least.streams < (carried[0]?.streams ?? 0))
    return yellow(
      `${finding}.`,
      `Request more: Service Quotas → Amazon Bedrock. ${least.text} are the least.`,
    );
  return green(`${finding}.`);
}

function checkConcurrency(
  concurrency: AccountFacts['concurrency'],
  { reservedConcurrency }: Stage,
): PreflightResult {
  const { green, yellow, red } = about('Lambda concurrency');
  if ('error' in concurrency)
    return yellow(`Not readable: ${concurrency.error.name}.`, 'Fix the credentials first.');
  const { limit } = concurrency.value;
  const reserved = sumReserved(reservedConcurrency);
  const request = 'Request more: Service Quotas → Lambda → Concurrent executions.';
  if (reserved > 0 && limit - reserved < minUnreserved)
    return red(
      `The stage reserves ${reserved} of ${limit} executions; Lambda keeps ${minUnreserved} unreserved.`,
      `${request} Until then, remove reservedConcurrency from the stage.`,
    );
  const streams = (source: SourceKind) =>
    countStreams(limit, reservedConcurrency, { source, mode: 'clip', intervalSeconds: 10 });
  const finding = `${limit} executions, ${reserved} reserved: they carry ${streams('hls')} streams of HLS or ${streams('rtsp')} of RTSP in clip mode at 10 s.`;
  return limit < 100 ? yellow(finding, request) : green(finding);
}

function checkTransitions(
  rate: AccountFacts['transitionsPerSecond'],
  { burstSeconds }: Stage,
): PreflightResult {
  const { green, yellow, red } = about('Step Functions');
  const perStream = burstSeconds > 0 ? 0.025 : 0.4;
  const need = `A stream takes ${perStream} transitions per second at 10 s`;
  const value = 'value' in rate ? rate.value : null;
  const streams = value === null ? undefined : Math.floor(value / perStream);
  const finding =
    streams === undefined ? `${need}.` : `${need}: ${value} per second carry ${streams} streams.`;
  if (burstSeconds > 0 && streams !== 0) return green(finding);
  if (streams === 0) return red(finding, 'Request more: Service Quotas → Step Functions → StateTransition.');
  return yellow(
    finding,
    'Set burstSeconds, or request more: Service Quotas → Step Functions → StateTransition.',
  );
}

function checkLayer({ layer }: AccountFacts, { architecture }: Stage): PreflightResult {
  const { green, yellow } = about('ffmpeg layer');
  if (layer === 'missing')
    return yellow(
      `The layer for ${architecture} is not built, and there is no pip that could fetch it.`,
      'Install Python 3 with pip, or choose another way: docs/operate/ffmpeg.md.',
    );
  const finding = `The layer for ${architecture} is ${layer === 'built' ? 'built' : 'built by npm run deploy'}.`;
  return green(finding);
}

/** No API states if AWS has verified a new account for CloudFront. A distribution that exists proves it. */
function checkDistributions(distributions: AccountFacts['distributions']): PreflightResult {
  const { green, yellow, red } = about('CloudFront');
  const verify = 'If the deployment says that the account must be verified, open a case with AWS Support.';
  if ('error' in distributions)
    return yellow(
      `The distributions cannot be listed (${distributions.error.name}).`,
      `Permit cloudfront:ListDistributions. ${verify}`,
    );
  const { used, quota } = distributions.value;
  const finding = `${used} distributions${quota === null ? '' : ` of ${quota}`}`;
  if (quota !== null && used >= quota)
    return red(
      `${finding}: a new stage needs one more.`,
      'Request more: Service Quotas in us-east-1 → Amazon CloudFront. A stage that exists is not affected.',
    );
  return used > 0
    ? green(`${finding}: the account may create them.`)
    : yellow(`${finding}: no API states if the account may create one.`, verify);
}

/** Policies of a stage (`lib/edge/edge-behaviors.ts`). */
const headerPoliciesOfStage = 3;

function checkHeaderPolicies(policies: AccountFacts['headerPolicies']): PreflightResult {
  const { green, yellow, red } = about('header policies');
  if ('error' in policies)
    return yellow(
      `The response headers policies cannot be listed (${policies.error.name}).`,
      'Permit cloudfront:ListResponseHeadersPolicies.',
    );
  const { used, quota } = policies.value;
  const finding = `${used} response headers policies of other stacks, of ${quota}`;
  if (used + headerPoliciesOfStage <= quota) return green(`${finding}.`);
  return red(
    `${finding}: a stage has ${headerPoliciesOfStage}.`,
    'Request more: Service Quotas in us-east-1 → Amazon CloudFront. Or remove policies that nothing uses.',
  );
}

function checkDeployment(deployment: AccountFacts['deployment']): PreflightResult {
  const { green, yellow, red } = about('policies');
  if ('error' in deployment)
    return yellow(
      `The policies of the deployment could not be seen (${deployment.error.name}).`,
      'Permit iam:SimulatePrincipalPolicy, or run npx cdk bootstrap first if its roles do not exist.',
    );
  const { principal, decisions } = deployment.value;
  const role = principal.split('/').at(-1);
  const denied = decisions.filter(
    ({ decision, byOrganization }) => byOrganization || decision === 'explicitDeny',
  );
  const missing = decisions.filter((each) => each.decision === 'implicitDeny' && !each.byOrganization);
  if (denied.length > 0)
    return red(
      `${describeDenials(denied)} for ${role}.`,
      denied.some(({ action }) => action === 'lambda:CreateFunctionUrlConfig')
        ? 'Set "streamOrigin": "rest-api" in the stage: it needs no public function URL. Ask the owner of the organization about the others.'
        : 'Ask the owner of the organization or of the policy for an exception, or choose another account.',
    );
  if (missing.length > 0)
    return yellow(
      `${role} is not allowed for every resource: ${listActions(missing)}.`,
      'Run npx cdk bootstrap with --cloudformation-execution-policies that allow these actions, unless they are allowed for the names of this stack.',
    );
  return green(`${role} may do all ${decisions.length} actions of the deployment.`);
}

function checkAssumption(assumption: AccountFacts['assumption']): PreflightResult {
  const { green, yellow } = about('roles of the CDK');
  if ('error' in assumption)
    return yellow(
      `Your own policies could not be seen (${assumption.error.name}).`,
      'Permit iam:GetRole and iam:SimulatePrincipalPolicy, and do not deploy as the root user.',
    );
  const denied = assumption.value.decisions.filter(({ decision }) => decision !== 'allowed');
  return denied.length === 0
    ? green('You may assume them.')
    : yellow(
        `You may not assume them: ${describeDenials(denied)}.`,
        'Permit sts:AssumeRole for the roles cdk-*; without them, the CDK deploys with your own permissions.',
      );
}

function describeDenials(denied: readonly PolicyDecision[]): string {
  const [organization, own] = [
    denied.filter((each) => each.byOrganization),
    denied.filter((each) => !each.byOrganization),
  ];
  return [
    ...(organization.length > 0 ? [`A service control policy forbids ${listActions(organization)}`] : []),
    ...(own.length > 0 ? [`A policy forbids ${listActions(own)}`] : []),
  ].join('; ');
}

function listActions(decisions: readonly PolicyDecision[]): string {
  const actions = [...new Set(decisions.map(({ action }) => action))];
  const shown = actions.slice(0, maxActionsShown).join(', ');
  return actions.length > maxActionsShown ? `${shown} and ${actions.length - maxActionsShown} more` : shown;
}

/** Says who receives the alarms of a stage: yellow if nobody does. */
export function checkAlarms({
  alarmEmail,
  alarmTopicArn,
}: Pick<StageSettings, 'alarmEmail' | 'alarmTopicArn'>): PreflightResult {
  const { green, yellow } = about('alarms');
  if (alarmTopicArn !== undefined) return green(`Alarms go to the topic ${alarmTopicArn}.`);
  if (alarmEmail !== undefined)
    return green(`Alarms go to ${alarmEmail} once its owner has confirmed the mail of SNS.`);
  return yellow(
    'Alarms reach nobody: the stage has neither alarmEmail nor alarmTopicArn.',
    'Set one of them and deploy.',
  );
}

/** Says whether CloudFront logs the requests of a stage. */
export function checkEdgeLogs(
  { accessLogs }: Pick<StageSettings, 'accessLogs'>,
  region: string,
): PreflightResult {
  const { green, yellow } = about('logs of CloudFront');
  if (!accessLogs) return green('The stage sets accessLogs to false.');
  if (supportsEdgeLogs(region)) return green('The stack sets them up.');
  return yellow(describeEdgeLogs(region), 'Run them after the deployment, or set accessLogs to false.');
}
