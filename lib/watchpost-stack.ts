import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { storageVersion } from '../adapters/aws/dynamodb/table/storage-version.ts';
import { visionProviders } from '../adapters/vision/aws-provider-registry.ts';
import { AccessLogs } from './api/access-logs.ts';
import { ServiceAlarms } from './operations/alarms/alarms.ts';
import { ServiceDashboard } from './operations/alarms/dashboard.ts';
import { ServiceMetrics } from './operations/alarms/service-metrics.ts';
import { AnalyzeFunction } from './workflow/analyze-function.ts';
import { CaptureFunction } from './workflow/capture-function.ts';
import { DeliveryQueue } from './delivery/delivery-queue.ts';
import { ConsoleSite } from './edge/console-site.ts';
import { Edge } from './edge/edge.ts';
import { EgressNetwork } from './delivery/egress-network.ts';
import { createEventBus } from './delivery/event-bus.ts';
import { EventStream } from './api/event-stream.ts';
import { HttpApi } from './api/http-api.ts';
import { JobsTable } from './storage/jobs-table.ts';
import { MediaBucket } from './storage/media-bucket.ts';
import { Reconcile } from './workflow/reconcile.ts';
import { computeRelease } from './operations/release.ts';
import { stateMachineArn } from './function/permissions.ts';
import { ServiceLog } from './function/service-log.ts';
import { ServiceSecrets } from './storage/service-secrets.ts';
import type { Stage } from './stages/read-stage.ts';
import { assertStreamOrigin, assertSupportedRegion } from './stages/region.ts';
import type { StageSettings } from './stages/stage-settings.ts';
import { StateMachines } from './workflow/state-machines.ts';
import { WebhookDelivery } from './delivery/webhook-delivery.ts';
import { executionMachines, workflowNames } from './workflow/workflow-names.ts';

/** Inputs of the stack. */
export type WatchpostStackProps = {
  stage: Stage;
  region: string;
  /** Folder with one bundle per function. */
  bundles: string;
  /** True for a deployment: a placeholder layer is then an error. */
  forDeployment: boolean;
};

/** Stack of one stage. `docs/contribute/architecture.md` describes its functions. */
export class WatchpostStack extends Stack {
  constructor(scope: Construct, { stage, region, bundles, forDeployment }: WatchpostStackProps) {
    const { name, settings } = stage;
    assertSupportedRegion(region);
    assertStreamOrigin(settings, region);
    super(scope, `Watchpost-${name}`, {
      env: { region, ...(settings.account !== undefined && { account: settings.account }) },
      description: 'Watchpost: watches live video streams and reports what it sees',
      terminationProtection: settings.deletionProtection,
    });
    const names = workflowNames(this.stackName);
    const machines = executionMachines(names, settings);
    const { modelId } = visionProviders[settings.visionProvider].readStage(settings, region);

    const storage = createStorage(this, settings);
    const { log, table, pictures, secrets, deliveries } = storage;
    const { queue } = deliveries;

    // Workflow and its functions
    const context = { bundles, log, settings, release: computeRelease(bundles, settings) };
    const eventBus =
      settings.eventBus === undefined ? undefined : createEventBus(this, 'EventBus', settings.eventBus);
    const resources = { table, pictures, queue, machines, eventBus };
    const network = settings.fixedEgress && new EgressNetwork(this, 'Egress', settings.fixedEgress);
    const captureProps = { table, pictures, forDeployment, network };
    const capture = new CaptureFunction(this, 'Capture', context, captureProps).function;
    const tickProps = { ...resources, capture, modelId };
    const analyze = new AnalyzeFunction(this, 'Analyze', context, tickProps).function;
    const workflowProps = { names, capture, analyze, log: log.workflow, settings };
    const workflow = new StateMachines(this, 'Watch', workflowProps);
    const stateMachines = [workflow.inBursts, workflow.continuous];

    // HTTP and console
    const httpProps = { ...tickProps, analyze, secrets, log: log.functions };
    const http = new HttpApi(this, 'Http', context, httpProps);
    const stream = new EventStream(this, 'Stream', context, httpProps, 'stream');
    const events = new EventStream(this, 'Events', context, httpProps, 'events');
    const edge = createEdge(this, settings, storage, { http, stream, events });

    // Webhooks and repairs
    const baseUrl = `https://${edge.host}/api`;
    const delivery = new WebhookDelivery(this, 'Webhooks', context, {
      ...resources,
      masterSecret: secrets.master,
      baseUrl,
      modelId,
      network,
    });
    const reconcile = new Reconcile(this, 'Reconcile', context, { ...resources, stateMachines });

    // Alarms and dashboard
    const metrics = new ServiceMetrics({
      service: this.stackName,
      functions: {
        api: http.function,
        stream: stream.function,
        events: events.function,
        capture,
        analyze,
        deliver: delivery.function,
        reconcile: reconcile.function,
      },
      stateMachines,
      burst: workflow.burst,
      table,
      httpApi: http.api,
      streamOrigins: [stream.origin, events.origin],
    });
    const queues = { deliveries: queue, deadLetters: deliveries.deadLetters };
    const serviceAlarms = new ServiceAlarms(this, 'Alarms', {
      ...queues,
      metrics,
      reconcileDeadLetters: reconcile.deadLetters,
      settings,
    });
    // The distribution takes minutes: reconcile has run before the first evaluation of its alarm.
    serviceAlarms.node.addDependency(edge.distribution);
    const { alarms } = serviceAlarms;
    new ServiceDashboard(this, 'Operations', { ...queues, metrics, alarms, log: log.functions });
    this.#addOutputs({
      BaseUrl: baseUrl,
      ConsoleUrl: `https://${edge.host}/console`,
      TableName: table.tableName,
      StorageVersion: storageVersion,
      StateMachineArn: stateMachineArn(this, machines.current),
      LogGroupName: log.functions.logGroupName,
      MediaBucketName: pictures.bucketName,
      DistributionArn: edge.distribution.distributionArn,
      ...(storage.accessLogs && { AccessLogsBucketName: storage.accessLogs.bucketName }),
      ...(eventBus && { EventBusArn: eventBus.bus.eventBusArn }),
    });
  }

  #addOutputs(outputs: Record<string, string>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** Creates what holds data: logs, table, buckets, secrets and queue. */
function createStorage(stack: Stack, settings: StageSettings) {
  const log = new ServiceLog(stack, 'Log', settings);
  const accessLogs = settings.accessLogs ? new AccessLogs(stack, 'AccessLogs', settings).bucket : undefined;
  const { table } = new JobsTable(stack, 'Jobs', settings);
  const pictures = new MediaBucket(stack, 'Media', { settings, accessLogs }).bucket;
  const secrets = new ServiceSecrets(stack, 'Secrets', settings);
  const deliveries = new DeliveryQueue(stack, 'Deliveries');
  return { log, accessLogs, table, pictures, secrets, deliveries };
}

type Origins = { http: HttpApi; stream: EventStream; events: EventStream };

/** Creates the console and the distribution before it and the endpoints. */
function createEdge(
  stack: Stack,
  settings: StageSettings,
  { log, accessLogs, secrets }: ReturnType<typeof createStorage>,
  { http, stream, events }: Origins,
): Edge {
  const site = new ConsoleSite(stack, 'Console', {
    accessLogs,
    log: log.functions,
    deploy: settings.console,
    keepData: settings.keepData,
  });
  return new Edge(stack, 'Edge', {
    apiHost: http.host,
    stream: stream.origin,
    events: events.origin,
    console: site.bucket,
    hasFiles: settings.console,
    originSecret: secrets.origin,
    accessLogs,
    settings,
  });
}
