import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { jobsByCaller, keyPrefixes, repair } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { DeployedModel } from '../../adapters/aws/function-settings.ts';
import { findModelPrice, visionProviders } from '../../adapters/vision/aws-provider-registry.ts';
import type { ApiEnvironment } from '../../functions/api/config.ts';
import { alarmPrefix } from '../operations/alarms/alarms.ts';
import {
  allowExecutions,
  allowInvoking,
  allowMedia,
  allowReadingAlarms,
  allowReadingSecrets,
  allowReadingTable,
  allowSending,
  allowTable,
} from '../function/permissions.ts';
import { allowMail, mailEnvironment } from '../delivery/mail.ts';
import type { DeploymentBus } from '../delivery/event-bus.ts';
import type { OwnEnvironment, ServiceFunction } from '../function/service-function.ts';
import type { ServiceSecrets } from '../storage/service-secrets.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { executionEnvironment, type ExecutionMachines } from '../workflow/workflow-names.ts';

/** Resources of the functions that serve HTTP (`api`, `stream`). */
export type HttpFunctionProps = {
  table: Table;
  pictures: Bucket;
  queue: Queue;
  eventBus: DeploymentBus | undefined;
  machines: ExecutionMachines;
  capture: ServiceFunction;
  analyze: ServiceFunction;
  secrets: ServiceSecrets;
  log: ILogGroup;
  modelId: string;
};

/** Returns the environment variables of a function that serves HTTP. */
export function httpEnvironment(
  scope: Construct,
  settings: StageSettings,
  deps: HttpFunctionProps,
): OwnEnvironment<ApiEnvironment> {
  return {
    TABLE_NAME: deps.table.tableName,
    MEDIA_BUCKET: deps.pictures.bucketName,
    QUEUE_URL: deps.queue.queueUrl,
    EVENT_BUS: deps.eventBus?.nameOrArn,
    ...executionEnvironment(scope, deps.machines),
    CAPTURE_FUNCTION: deps.capture.live.functionArn,
    ANALYZE_FUNCTION: deps.analyze.live.functionArn,
    MASTER_SECRET_ARN: deps.secrets.master.secretArn,
    ORIGIN_SECRET_ARN: deps.secrets.origin.secretArn,
    LOG_GROUP: deps.log.logGroupName,
    ALARM_PREFIX: alarmPrefix(scope),
    MODEL: JSON.stringify(describeModel(settings, deps.modelId)),
    BASE_URL: settings.domain && `https://${settings.domain.name}/api`,
    ALLOW_RANGES: settings.allowRanges.join(','),
    ALLOW_WEBHOOK_RANGES: settings.allowWebhookRanges.join(','),
    DENY_RANGES: settings.network?.ranges.join(','),
    ALLOWED_ORIGINS: settings.allowedOrigins.join(','),
    ...mailEnvironment(settings),
    MAX_JOB_SECONDS: String(settings.maxJobSeconds),
    JOBS_PER_CALLER: String(settings.jobsPerCaller),
    WATCHES_PER_CALLER: String(settings.watchesPerCaller),
    MEMORY_DAYS: String(settings.memoryDays),
    CLIP_SECONDS: String(settings.clipSeconds),
    MODEL_GRACE_SECONDS: String(settings.modelGraceSeconds),
    RETENTION_SECONDS: String(settings.retentionSeconds),
    SYNC_PER_MINUTE: String(settings.syncPerMinute),
    SYNC_AT_ONCE: String(settings.syncAtOnce),
  };
}

export function describeModel({ visionProvider }: StageSettings, modelId: string): DeployedModel {
  const model = visionProviders[visionProvider].describeModel(modelId);
  return { ...model, price: findModelPrice(model) };
}

/**
 * Grants the permissions to serve callers. Fetching streams and calling the model stay with `capture` and `analyze`.
 */
export function allowHttp(to: ServiceFunction, settings: StageSettings, deps: HttpFunctionProps): void {
  // Erasure of a caller: deleted watches are in the index of repairs, and media are removed.
  allowTable(to, deps.table, { apiKeys: true, indexes: [jobsByCaller, repair] });
  allowMedia(to, deps.pictures, ['s3:GetObject', 's3:DeleteObject']);
  allowSending(to, deps.queue);
  allowExecutions(to, deps.machines, ['states:StopExecution']);
  allowInvoking(to, deps.capture, deps.analyze);
  allowReadingSecrets(to, deps.secrets.master, deps.secrets.origin);
  // Test alerts.
  allowMail(to, settings);
  to.allow(['logs:FilterLogEvents'], [deps.log.logGroupArn]);
  allowReadingAlarms(to);
}

/** Grants the permissions to follow events, with their evidence. */
export function allowReadingEvents(to: ServiceFunction, deps: HttpFunctionProps): void {
  allowReadingTable(to, deps.table, keyPrefixes.permits);
  allowMedia(to, deps.pictures, ['s3:GetObject']);
  allowReadingSecrets(to, deps.secrets.master, deps.secrets.origin);
}
