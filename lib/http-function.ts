import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { jobsByCaller } from '../adapters/aws/dynamodb/table-layout.ts';
import type { ApiEnvironment } from '../functions/api/config.ts';
import { alarmPrefix } from './alarms/alarm-prefix.ts';
import {
  allowExecutions,
  allowInvoking,
  allowPictures,
  allowReadingAlarms,
  allowReadingSecrets,
  allowSending,
  allowTable,
  stateMachineArn,
} from './permissions.ts';
import type { OwnEnvironment, ServiceFunction } from './service-function.ts';
import type { ServiceSecrets } from './service-secrets.ts';
import type { StageSettings } from './stage/stage-settings.ts';

/** Resources of the functions that serve HTTP (`api`, `stream`). */
export type HttpNeeds = {
  table: Table;
  pictures: Bucket;
  queue: Queue;
  stateMachineName: string;
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
  needs: HttpNeeds,
): OwnEnvironment<ApiEnvironment> {
  return {
    TABLE_NAME: needs.table.tableName,
    MEDIA_BUCKET: needs.pictures.bucketName,
    QUEUE_URL: needs.queue.queueUrl,
    STATE_MACHINE_ARN: stateMachineArn(scope, needs.stateMachineName),
    CAPTURE_FUNCTION: needs.capture.lambda.functionName,
    ANALYZE_FUNCTION: needs.analyze.lambda.functionName,
    MASTER_SECRET_ARN: needs.secrets.master.secretArn,
    ORIGIN_SECRET_ARN: needs.secrets.origin.secretArn,
    LOG_GROUP: needs.log.logGroupName,
    ALARM_PREFIX: alarmPrefix(scope),
    MODEL_ID: needs.modelId,
    BASE_URL: settings.domain && `https://${settings.domain.name}/api`,
    ALLOW_RANGES: settings.allowRanges.join(','),
    ALLOW_WEBHOOK_RANGES: settings.allowWebhookRanges.join(','),
    MAX_JOB_SECONDS: String(settings.maxJobSeconds),
    JOBS_PER_CALLER: String(settings.jobsPerCaller),
    RETENTION_SECONDS: String(settings.retentionSeconds),
    SYNC_PER_MINUTE: String(settings.syncPerMinute),
    SYNC_AT_ONCE: String(settings.syncAtOnce),
  };
}

/** Grants the permissions to serve callers. Fetching streams and calling the model stay with `capture` and `analyze`. */
export function allowHttp(to: ServiceFunction, needs: HttpNeeds): void {
  allowTable(to, needs.table, { apiKeys: true, index: jobsByCaller });
  allowPictures(to, needs.pictures, ['s3:GetObject']);
  allowSending(to, needs.queue);
  allowExecutions(to, needs.stateMachineName, ['states:StopExecution']);
  allowInvoking(to, needs.capture, needs.analyze);
  allowReadingSecrets(to, needs.secrets.master, needs.secrets.origin);
  to.allow(['logs:FilterLogEvents'], [needs.log.logGroupArn]);
  allowReadingAlarms(to);
}
