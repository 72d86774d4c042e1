import { freePace } from '../../core/ports/pace.ts';
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import type { BurstCutStore } from '../../adapters/aws/dynamodb/runs/burst-cuts.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import type { AnalyzeCallDeps } from '../../adapters/aws/invoke/analyze-calls.ts';
import {
  deferDeliveryQueue,
  deferExecutions,
  deferInvoke,
  deferMediaStore,
} from '../../adapters/aws/deferred.ts';
import { createRemoteContactSheets, createRemoteResize } from '../../adapters/aws/invoke/remote-capture.ts';
import {
  instrumentMeter,
  instrumentRuns,
  instrumentVision,
} from '../../adapters/aws/telemetry/instrument.ts';
import { createTelemetry, type Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { createCallerUsage } from '../../adapters/caller-usage.ts';
import { createAlertId } from '../../adapters/machine.ts';
import { capturedWidthPixels, withPictureWidth } from '../../adapters/vision/picture-width.ts';
import { promptVariants } from '../../adapters/vision/prompt-variants.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { findModelPrice, visionProviders } from '../../adapters/vision/aws-provider-registry.ts';
import type { AnalyzeTaskDeps } from '../../core/workflow/tasks.ts';
import type { ContactSheets } from '../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import { publishCommits } from '../../core/delivery/publish.ts';
import type { AnalyzeConfig } from './config.ts';

const now = () => new Date();

export type AnalyzeFunctionDeps = AnalyzeTaskDeps &
  AnalyzeCallDeps &
  Pick<Telemetry, 'during' | 'measurements'> & { burstCuts: BurstCutStore };

/** Creates the dependencies, once per instance. */
export function createDependencies(config: AnalyzeConfig): AnalyzeFunctionDeps {
  const telemetry = createTelemetry({ level: config.LOG_LEVEL, service: config.POWERTOOLS_SERVICE_NAME });
  const { measurements, log, during } = telemetry;
  const hasBus = config.EVENT_BUS !== undefined;
  const {
    runs,
    deliveries,
    meter,
    usage: ledger,
    burstCuts,
  } = dynamoStores({
    client: new DynamoDBClient(clientSettings),
    tableName: config.TABLE_NAME,
    now,
    hasBus,
    retentionSeconds: config.RETENTION_SECONDS,
  });
  const contactSheets = createRemoteContactSheets({
    invoke: deferInvoke(config.CAPTURE_FUNCTION),
    seconds: sheetSeconds,
  });
  const modelPrice = findModelPrice(visionProviders[config.VISION_PROVIDER].describeModel(config.MODEL_ID));
  const queue = deferDeliveryQueue({ queueUrl: config.QUEUE_URL, hasBus });
  const publishing = { queue, deliveries, log, now };
  return {
    runs: publishCommits(instrumentRuns(runs, measurements), publishing),
    deliveries,
    burstCuts,
    createAlertId,
    meter: instrumentMeter(meter, measurements),
    modelPrice,
    usage: createCallerUsage({ ledger, modelPrice, log, now }),
    media: deferMediaStore({ bucket: config.MEDIA_BUCKET }),
    vision: meteredVision(createVision(config, contactSheets, telemetry), meter),
    contactSheets,
    executions: deferExecutions({
      stateMachineArn: config.STATE_MACHINE_ARN,
      otherStateMachineArn: config.OTHER_STATE_MACHINE_ARN,
    }),
    pace: freePace,
    log,
    limits: { retentionSeconds: config.RETENTION_SECONDS, visionTimeoutSeconds },
    now,
    newId: () => randomUUID(),
    measurements,
    during,
  };
}

/** Timeout of a model call, in seconds; less than the 150 s of the workflow's task. */
const visionTimeoutSeconds = 90;
const sheetSeconds = 30;
const resizeSeconds = 15;

function createVision(config: AnalyzeConfig, sheets: ContactSheets, telemetry: Telemetry): VisionModel {
  const model = visionProviders[config.VISION_PROVIDER].createModel(config, {
    sheets,
    prompt: promptVariants[config.VISION_PROMPT],
  });
  const isScaled = config.VISION_WIDTH < capturedWidthPixels;
  const resize = createRemoteResize({ invoke: deferInvoke(config.CAPTURE_FUNCTION), seconds: resizeSeconds });
  return instrumentVision(isScaled ? withPictureWidth(model, config.VISION_WIDTH, resize) : model, {
    measurements: telemetry.measurements,
    elapsedMs: () => performance.now(),
  });
}
