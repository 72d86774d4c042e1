import type { InputMode } from '../../core/capture.ts';
import { listPrices } from './list-prices.ts';
import type { ModelPrice } from './list-prices.ts';
import { units } from './units.ts';

/** A stream that is watched for an hour. */
export type Watching = {
  intervalSeconds: number;
  mode: InputMode;
  clipSeconds: number;
  /** What share of captures the pre-filter keeps from the model: 0 to 1. */
  skippedShare: number;
  alertsPerHour: number;
  model: ModelPrice;
  transitionsPerTick: number;
};

export type CostLine = { item: string; quantity: number; unit: string; dollars: number };

/** What it costs by list prices, a line each; the model last. Throws `RangeError` for a clip of a model that takes none. */
export function streamHour(watching: Watching): CostLine[] {
  const { intervalSeconds, mode, skippedShare, alertsPerHour, transitionsPerTick } = watching;
  const ticks = 3600 / intervalSeconds;
  const looks = ticks * (1 - skippedShare);
  const { capture, analyze, deliver } = units;
  const analyzeSeconds = ticks * analyze.secondsWithoutModel + looks * analyze.modelSeconds[mode];
  const media = mode === 'frames' ? 1 : 2;
  const tokens = tokensOfLook(watching);
  return [
    line('Step Functions', ticks * transitionsPerTick, 'transitions', listPrices.stateTransition),
    lambda('capture', ticks, ticks * capture.seconds[mode], capture.megabytes),
    lambda('analyze', ticks, analyzeSeconds, analyze.megabytes),
    lambda('deliver', alertsPerHour, alertsPerHour * deliver.seconds, deliver.megabytes),
    line('DynamoDB writes', ticks * units.writeUnitsPerTick, 'write units', listPrices.dynamoWriteUnit),
    line('DynamoDB reads', ticks * units.readUnitsPerTick, 'read units', listPrices.dynamoReadUnit),
    line('S3 writes', ticks * media, 'requests', listPrices.s3Put),
    line('S3 reads', looks * media + alertsPerHour, 'requests', listPrices.s3Get),
    line('SQS', alertsPerHour * units.queueRequestsPerEvent, 'requests', listPrices.sqsFifoRequest),
    line('CloudWatch Logs', (ticks * units.logBytesPerTick) / 1e9, 'GB', listPrices.logGigabyte),
    line('Model, input', looks * tokens.input, 'tokens', watching.model.input),
    line('Model, output', looks * tokens.output, 'tokens', watching.model.output),
  ];
}

function line(item: string, quantity: number, unit: string, price: number): CostLine {
  return { item, quantity, unit, dollars: quantity * price };
}

function lambda(name: string, calls: number, secondsInAll: number, megabytes: number): CostLine {
  const gigabyteSeconds = (secondsInAll * megabytes) / 1024;
  const dollars = gigabyteSeconds * listPrices.lambdaGigabyteSecondArm + calls * listPrices.lambdaRequest;
  return { item: `Lambda ${name}`, quantity: gigabyteSeconds, unit: 'GB-seconds', dollars };
}

function tokensOfLook({ mode, clipSeconds, model }: Watching): { input: number; output: number } {
  const picture = mode === 'clip' ? 0 : model.pictureTokens;
  if (mode === 'frames') return { input: units.promptTokens + picture, output: units.answerTokens };
  if (model.videoTokensPerSecond === null) throw new RangeError('This model takes no video');
  const video = clipSeconds * model.videoTokensPerSecond;
  return { input: units.promptTokens + picture + video, output: units.answerTokens };
}
