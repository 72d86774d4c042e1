import type { InputMode } from '../../core/records/capture.ts';
import { rules } from '../../core/rules.ts';
import type { ModelPrice } from '../../adapters/vision/aws-provider.ts';
import { units, type SourceKind } from '../../adapters/aws/usage-units.ts';

/**
 * Month of the list prices, `YYYY-MM`. Prices are in USD for us-east-1, without free tiers and discounts, from the
 * pricing pages of aws.amazon.com (step-functions, lambda, dynamodb, s3, sqs, cloudwatch, api-gateway, cloudfront, vpc,
 * secrets-manager: `/pricing`).
 */
export const listPricesDate = '2026-11';

/** USD per unit. */
export const listPrices = {
  /** State transition of a standard workflow: $0.025 per thousand. */
  stateTransition: 0.025e-3,
  /** Express workflow: request, and memory in use over time, in chunks of 64 MB and 100 ms. */
  expressRequest: 1e-6,
  expressGigabyteSecond: 0.00001667,
  lambdaGigabyteSecondArm: 0.0000133334,
  lambdaRequest: 0.2e-6,
  /** On-demand units. */
  dynamoWriteUnit: 0.625e-6,
  dynamoReadUnit: 0.125e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  sqsFifoRequest: 0.5e-6,
  logGigabyte: 0.5,
  httpApiRequest: 1e-6,
  /** Request of a REST API, and each further 10 MB of its response. */
  restApiRequest: 3.5e-6,
  cloudFrontRequest: 1e-6,
  /** Traffic through a NAT gateway, and the hour of one with its public address (`aws.amazon.com/vpc/pricing`). */
  natGigabyte: 0.045,
  natGatewayHour: 0.045,
  publicAddressHour: 0.005,
  /** Per month; an alarm on an expression is billed for each metric in it. */
  alarmMetric: 0.1,
  customMetric: 0.3,
  dashboard: 3,
  secret: 0.4,
} as const;

/** Transitions of the definition that runs the ticks: per tick, or per burst if `burstSeconds` is not 0. */
export type Workflow = { burstSeconds: number; transitionsPerLoop: number; transitionsPerExecution: number };

export type StreamHourInput = {
  intervalSeconds: number;
  mode: InputMode;
  clipSeconds: number;
  /** Share of captures that the pre-filter skips, 0 to 1. */
  skippedShare: number;
  /** Mean frames of a check with `look_back`, 1 to 4; undefined without it. */
  framesPerCheck?: number;
  /** True if the watch remembers what the model judges. */
  remembers?: boolean;
  /** Webhooks; 0 for a monitor without a webhook. */
  alertsPerHour: number;
  /** Source of the stream; a camera needs longer per capture. */
  source: SourceKind;
  /** Open event streams, on average. */
  readers: number;
  pollsPerHour: number;
  /** Origin of event streams (`streamOrigin` of the stage). */
  streamOrigin: 'function-url' | 'rest-api';
  /** NAT gateway of `fixedEgress: "new-vpc"`, which the streams share; undefined without one. */
  gateway?: { streams: number; megabitsPerSecond: number };
  model: ModelPrice;
  workflow: Workflow;
};

/** Cost of one item; `dollars` is in USD. */
export type CostLine = { item: string; quantity: number; unit: string; dollars: number };

/**
 * Computes the cost of a stream-hour by list prices, the model last. Throws `RangeError` for a clip without video
 * support.
 */
export function priceStreamHour(input: StreamHourInput): CostLine[] {
  const { intervalSeconds, mode, skippedShare, alertsPerHour } = input;
  const ticks = 3600 / intervalSeconds;
  const checks = ticks * (1 - skippedShare);
  const { capture, analyze, deliver, tick, webhook } = units;
  const earlier = checks * ((input.framesPerCheck ?? 1) - 1);
  const analyzeSeconds =
    ticks * analyze.secondsWithoutModel +
    checks * analyze.modelSeconds[mode] +
    earlier * analyze.earlierFrameSeconds;
  const captureSeconds =
    ticks * (capture.seconds[mode] + capture.extraSeconds[input.source]) +
    (input.framesPerCheck === undefined ? 0 : ticks * capture.scanSeconds) +
    earlier * capture.earlierFrameSeconds;
  const media = mode === 'frames' ? 1 : 2;
  const tokens = countTokens(input, checks, earlier);
  const remembered = input.remembers ? checks : 0;
  const { writeUnits: ofOne, writeUnitsOfSeveral } = units.memory;
  const unitsOfMemory = earlier > 0 ? writeUnitsOfSeveral : ofOne;
  const writeUnits =
    ticks * tick.writeUnits + alertsPerHour * webhook.writeUnits + remembered * unitsOfMemory;
  const readUnits = ticks * tick.readUnits + alertsPerHour * webhook.readUnits;
  return [
    ...workflowLines(input, ticks, analyzeSeconds + captureSeconds),
    lambda('capture', ticks, captureSeconds, capture.megabytes),
    lambda('analyze', ticks, analyzeSeconds, analyze.megabytes),
    lambda('deliver', alertsPerHour, alertsPerHour * deliver.seconds, deliver.megabytes),
    line('DynamoDB writes', writeUnits, 'write units', listPrices.dynamoWriteUnit),
    line('DynamoDB reads', readUnits, 'read units', listPrices.dynamoReadUnit),
    line('S3 writes', ticks * media + earlier + storedStates(input, ticks), 'requests', listPrices.s3Put),
    line('S3 reads', checks * media + earlier + alertsPerHour, 'requests', listPrices.s3Get),
    line('SQS', alertsPerHour * units.queueRequestsPerEvent, 'requests', listPrices.sqsFifoRequest),
    line('CloudWatch Logs', logBytes(input, ticks) / 1e9, 'GB', listPrices.logGigabyte),
    ...readerLines(input),
    ...gatewayLines(input, ticks),
    line('Model, input', tokens.input + remembered * units.memory.promptTokens, 'tokens', input.model.input),
    line(
      'Model, output',
      tokens.output + remembered * units.memory.answerTokens,
      'tokens',
      input.model.output,
    ),
  ];
}

/**
 * Returns the states of executions that are stored: a motion reference for each burst, or the output and the reference
 * of each tick.
 */
function storedStates(
  { workflow: { burstSeconds }, intervalSeconds }: StreamHourInput,
  ticks: number,
): number {
  if (burstSeconds === 0) return 2 * ticks;
  return (ticks / rules.ticksPerExecution) * loopsPerExecution(burstSeconds, intervalSeconds);
}

/** Lines of readers: event streams, and polls of a job. */
function readerLines({ readers, pollsPerHour, streamOrigin }: StreamHourInput): CostLine[] {
  const { reader, poll } = units;
  const requests = pollsPerHour * (listPrices.httpApiRequest + listPrices.cloudFrontRequest);
  const streamReads = readers * 3600 * reader.readUnitsPerSecond * listPrices.dynamoReadUnit;
  const stream = lambda('stream', 0, readers * 3600, reader.megabytes);
  const api = lambda('api', pollsPerHour, pollsPerHour * poll.seconds, poll.megabytes);
  const pollReads = pollsPerHour * poll.readUnits * listPrices.dynamoReadUnit;
  return [
    { ...stream, item: 'Event streams', dollars: stream.dollars + streamReads },
    { ...api, item: 'Polls', dollars: api.dollars + pollReads + requests },
    ...(streamOrigin === 'rest-api'
      ? [line('REST API', (readers * 3600) / reader.secondsPerRequest, 'requests', listPrices.restApiRequest)]
      : []),
  ].filter(({ quantity }) => quantity > 0);
}

/** Lines of a NAT gateway: the data of the captures, and the share of the stream in its hour. */
function gatewayLines({ gateway, source, framesPerCheck }: StreamHourInput, ticks: number): CostLine[] {
  if (gateway === undefined) return [];
  const captured = ticks * units.egressSeconds[source];
  // Each segment of a stream with one rendition is requested once, for scan and capture.
  const seconds = framesPerCheck === undefined ? captured : Math.max(captured, 3600);
  const gigabytes = (seconds * gateway.megabitsPerSecond) / 8 / 1000;
  const hour = listPrices.natGatewayHour + listPrices.publicAddressHour;
  return [
    line('NAT data', gigabytes, 'GB', listPrices.natGigabyte),
    line('NAT gateway', 1 / gateway.streams, 'hours', hour),
  ];
}

/**
 * Lines of Step Functions. `taskSeconds` is the duration of all tasks, which Express workflows bill as they bill waits.
 */
function workflowLines(
  { intervalSeconds, workflow }: StreamHourInput,
  ticks: number,
  taskSeconds: number,
): CostLine[] {
  const { burstSeconds, transitionsPerLoop, transitionsPerExecution } = workflow;
  const executions = ticks / rules.ticksPerExecution;
  const loops = executions * loopsPerExecution(burstSeconds, intervalSeconds);
  const rests = burstSeconds > 0 && hasRests(intervalSeconds) ? loops : 0;
  const transitions = loops * transitionsPerLoop + rests + executions * transitionsPerExecution;
  const standard = line('Step Functions', transitions, 'transitions', listPrices.stateTransition);
  if (burstSeconds === 0) return [standard];
  // The wait after the last tick of a burst is a rest, which costs a transition.
  const seconds = rests > 0 ? (ticks - loops) * intervalSeconds + (loops / ticks) * taskSeconds : 3600;
  const gigabyteSeconds = (seconds * units.burst.megabytes) / 1024;
  return [
    standard,
    line('Express requests', loops, 'requests', listPrices.expressRequest),
    line('Express time', gigabyteSeconds, 'GB-seconds', listPrices.expressGigabyteSecond),
  ];
}

/** Returns true if bursts end with a rest: the next one then begins at its first tick. */
function hasRests(intervalSeconds: number): boolean {
  return intervalSeconds > rules.minRestSeconds;
}

/**
 * Returns the bursts of an execution, the last one shorter; as many as ticks without bursts, and if the wait between
 * two ticks is not in a burst.
 */
function loopsPerExecution(burstSeconds: number, intervalSeconds: number): number {
  if (burstSeconds === 0 || intervalSeconds > rules.maxBurstWaitSeconds) return rules.ticksPerExecution;
  const waits = Math.floor(burstSeconds / intervalSeconds);
  return Math.ceil(rules.ticksPerExecution / Math.max(1, hasRests(intervalSeconds) ? waits + 1 : waits));
}

/** Returns the log entries: the history of Standard executions, and the lines of the functions. */
function logBytes({ workflow, intervalSeconds }: StreamHourInput, ticks: number): number {
  const { burstSeconds, transitionsPerLoop } = workflow;
  const loops = (ticks / rules.ticksPerExecution) * loopsPerExecution(burstSeconds, intervalSeconds);
  const transitions = loops * transitionsPerLoop;
  return transitions * units.historyBytesPerTransition + ticks * units.logBytesPerTick;
}

function line(item: string, quantity: number, unit: string, price: number): CostLine {
  return { item, quantity, unit, dollars: quantity * price };
}

function lambda(name: string, calls: number, totalSeconds: number, megabytes: number): CostLine {
  const gigabyteSeconds = (totalSeconds * megabytes) / 1024;
  const dollars = gigabyteSeconds * listPrices.lambdaGigabyteSecondArm + calls * listPrices.lambdaRequest;
  return { item: `Lambda ${name}`, quantity: gigabyteSeconds, unit: 'GB-seconds', dollars };
}

/** Counts the tokens of an hour. The earlier frames of a clip or hybrid check are a call of their own. */
function countTokens(
  { mode, clipSeconds, framesPerCheck, model }: StreamHourInput,
  checks: number,
  earlier: number,
) {
  if (mode !== 'frames' && model.videoTokensPerSecond === null)
    throw new RangeError('This model does not support video');
  const image = mode === 'clip' ? 0 : model.pictureTokens;
  const video = mode === 'frames' ? 0 : clipSeconds * (model.videoTokensPerSecond ?? 0);
  const calls = mode === 'frames' || earlier === 0 ? checks : 2 * checks;
  return {
    input: calls * units.promptTokens + checks * (image + video) + earlier * model.pictureTokens,
    output:
      framesPerCheck === undefined
        ? checks * units.answerTokens
        : (checks + earlier) * units.watchAnswerTokens,
  };
}
