import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import type { SqsQueue } from '../../adapters/aws/delivery-queue.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import {
  deferDeliveryQueue,
  deferEventBus,
  deferInvoke,
  deferMediaStore,
  deferWebhookHttp,
} from '../../adapters/aws/deferred.ts';
import { createRemoteMakeClip } from '../../adapters/aws/invoke/remote-capture.ts';
import { createMail } from '../../adapters/aws/mail.ts';
import { createLookup } from '../../adapters/aws/lookup.ts';
import { createSecret } from '../../adapters/aws/secret.ts';
import { createStoredLinkSigner, createStoredSigner } from '../../adapters/aws/stored-signer.ts';
import { instrumentMeter } from '../../adapters/aws/telemetry/instrument.ts';
import { createTelemetry, type Telemetry, softwareVersion } from '../../adapters/aws/telemetry/telemetry.ts';
import { createWebhookGuard } from '../../adapters/egress/guard.ts';
import { createDestinations } from '../../adapters/destinations/destination-sender.ts';
import { createHttpSender } from '../../adapters/destinations/http-sender.ts';
import { createAddressPace } from '../../core/delivery/address-pace.ts';
import type { DeliverMessageDeps } from '../../core/delivery/deliver.ts';
import { publishCommits } from '../../core/delivery/publish.ts';
import { recordClip } from '../../core/watch/record-clip.ts';
import type { DeliverConfig } from './config.ts';

const now = () => new Date();

/** Timeout of a clip in `capture`, in seconds: less than both functions have. */
const clipSeconds = 54;

export type DeliverFunctionDeps = DeliverMessageDeps & Pick<SqsQueue, 'postpone'> & Pick<Telemetry, 'during'>;

/** Creates the dependencies, once per instance. */
export function createDependencies(config: DeliverConfig): DeliverFunctionDeps {
  const { measurements, log, during } = createTelemetry({
    level: config.LOG_LEVEL,
    service: config.POWERTOOLS_SERVICE_NAME,
  });
  const hasBus = config.EVENT_BUS !== undefined;
  const stores = dynamoStores({
    client: new DynamoDBClient(clientSettings),
    tableName: config.TABLE_NAME,
    now,
    hasBus,
  });
  const { deliveries, callers, meter, moments } = stores;
  const secrets = new SecretsManagerClient(clientSettings);
  const secret = (arn: string) => createSecret({ client: secrets, arn, now });
  const masterSecret = secret(config.MASTER_SECRET_ARN);
  const mail = createMail(config, { secret, log });
  const webhooks = createHttpSender({
    http: deferWebhookHttp(
      createWebhookGuard(config.ALLOW_WEBHOOK_RANGES, 'stage setting allowWebhookRanges', {
        denyRanges: config.DENY_RANGES,
        ownHosts: [new URL(config.BASE_URL).hostname],
        lookup: createLookup(),
      }),
    ),
    version: softwareVersion,
    elapsedMs: () => performance.now(),
  });
  const queue = deferDeliveryQueue({ queueUrl: config.QUEUE_URL, hasBus });
  const runs = publishCommits(stores.runs, { queue, deliveries, log, now });
  const media = deferMediaStore({ bucket: config.MEDIA_BUCKET });
  const makeClip = createRemoteMakeClip({
    invoke: deferInvoke(config.CAPTURE_FUNCTION),
    seconds: clipSeconds,
  });
  const signer = createStoredSigner({ masterSecret, callers, now });
  return {
    runs,
    deliveries,
    evidenceLinks: {
      signer: createStoredLinkSigner(masterSecret),
      origin: config.BASE_URL.replace(/\/api$/, ''),
      isPublic: true,
    },
    messageFacts: { model: config.MODEL.model, timeZone: 'UTC' },
    addressPace: createAddressPace(now),
    destinations: createDestinations({ http: webhooks, signer, now, ...(mail && { mail }) }),
    queue,
    postpone: queue.postpone,
    meter: instrumentMeter(meter, measurements),
    media,
    moments,
    recordClip: async (message) =>
      recordClip(message, { runs, media, log, now, makeClip, attemptSeconds: clipSeconds + 2 }),
    bus:
      config.EVENT_BUS === undefined
        ? undefined
        : deferEventBus({
            bus: config.EVENT_BUS,
            deployment: config.POWERTOOLS_SERVICE_NAME,
            log,
            measurements,
          }),
    log,
    baseUrl: config.BASE_URL,
    now,
    random: Math.random,
    during,
  };
}
