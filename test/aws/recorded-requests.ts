import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { indexes, keyPrefixes, partitionKey } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { RoleRequest } from '../lib/iam/simulate.ts';
import { inPlace, withoutHash } from '../lib/roles.ts';
import type { Template } from './fit-template.ts';

/** Line of `emulator_app.py`. */
type Raw = {
  function: string;
  service: string;
  method: string;
  path: string;
  query: string;
  target: string;
  body: string;
};
/** Action, resource and condition keys as IAM sees them (Service Authorization Reference). */
type Asked = Omit<RoleRequest, 'role' | 'context'> & { context?: Record<string, string[]> };

const place = 'us-east-1:000000000000';
const keyNames = [partitionKey.name, ...indexes.map(({ partitionKey: { name } }) => name)];

/**
 * Returns the requests that the functions of a deployment made, with the logical ids of its resources and without what
 * differs between runs, each once. Throws for a request of a service that it does not know.
 */
export function readRequests(file: string, template: Template, stackName: string): RoleRequest[] {
  const names = toNames(template, stackName);
  const found = new Map<string, RoleRequest>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const raw: Raw = JSON.parse(line);
    for (const { action, resource, context = {} } of toAsked(raw)) {
      const request = {
        role: raw.function.replace(/Function$/, 'Role'),
        action,
        resource: generalize(names.reduce((text, [pattern, id]) => text.replace(pattern, id), resource)),
        context: Object.fromEntries(
          Object.entries(context).map(([key, values]) => [key, [...new Set(values.map(generalize))]]),
        ),
      };
      found.set(JSON.stringify(request), request);
    }
  }
  return [...found.keys()].toSorted().flatMap((key) => found.get(key) ?? []);
}

/** Returns the calls of a model, by its inference profile and, through it, by the model itself. */
export function modelRequests(calls: readonly { model: string; function: string }[]): RoleRequest[] {
  const models = new Map(calls.map((call) => [JSON.stringify(call), call]));
  return [...models.values()].flatMap(({ model, function: name }) => {
    const role = name.replace(/Function$/, 'Role');
    const action = 'bedrock:InvokeModel';
    const profile = `arn:aws:bedrock:${place}:inference-profile/${model}`;
    const foundation = `arn:aws:bedrock:us-east-1::foundation-model/${model.replace(/^us\./, '')}`;
    return [
      { role, action, resource: profile, context: {} },
      { role, action, resource: foundation, context: { 'bedrock:InferenceProfileArn': [profile] } },
    ];
  });
}

const recordFile = new URL('../lib/iam/requests.snapshot.json', import.meta.url);

/** Returns the requests that are not in the record yet, and adds them if `write` is set. */
export function addToRecord(requests: readonly RoleRequest[], write: boolean): RoleRequest[] {
  const before: RoleRequest[] = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : [];
  const known = new Set(before.map((request) => JSON.stringify(request)));
  const news = requests.filter((request) => !known.has(JSON.stringify(request)));
  const all = [...before, ...news].map((request) => JSON.stringify(request)).toSorted();
  if (write) writeFileSync(recordFile, `[\n${all.map((line) => `  ${line}`).join(',\n')}\n]\n`);
  return news;
}

/**
 * Returns patterns of the names that the emulator gives to resources, `<stack>-<logical id>-<hash>` in most cases, with
 * their ids.
 */
function toNames({ Resources }: Template, stackName: string): [RegExp, string][] {
  return Object.keys(Resources).map((id) => [
    new RegExp(`${stackName}-${id}-[0-9a-f]+(\\.fifo)?|/aws/cloudformation/${stackName}/${id}`, 'gi'),
    withoutHash(id),
  ]);
}

/** Replaces ids, hashes and names of the test. */
function generalize(text: string): string {
  return inPlace(text)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/(?<=^KEY#)[0-9a-f]{64}$/g, 'HASH')
    .replaceAll(/(?<=^(?:CALLER|PERMITS|ALERT|ALERTS)#).*$/g, 'NAME')
    .replaceAll(/(?<=^(?:ACTIVE|TOTALS)#|^W)\d+$/g, 'N')
    .replaceAll(/^\d+$/g, 'N')
    .replaceAll(/(?<=ID-)\d+$|(?<=\/)\d+(?=-ID)|(?<=motion-)\d+$|(?<=-)[1-3](?=\.jpg$)/g, 'N');
}

function toAsked(raw: Raw): Asked[] {
  const [, operation = ''] = raw.target.split('.');
  const body = raw.target === '' || raw.body === '' ? {} : JSON.parse(raw.body);
  switch (raw.service) {
    case 'dynamodb':
      return tableRequests(operation, body);
    case 'sqs':
      return [
        { action: `sqs:${operation}`, resource: `arn:aws:sqs:${place}:${body.QueueUrl.split('/').at(-1)}` },
      ];
    case 'states':
      return [{ action: `states:${operation}`, resource: body.executionArn ?? body.stateMachineArn }];
    case 'secretsmanager':
      return [
        {
          action: `secretsmanager:${operation}`,
          resource: `arn:aws:secretsmanager:${place}:secret:${body.SecretId.split(':').at(-1)}`,
        },
      ];
    case 'events':
      return [
        {
          action: `events:${operation}`,
          resource: `arn:aws:events:${place}:event-bus/${body.Entries[0].EventBusName}`,
          context: { 'events:source': body.Entries.map(({ Source }: any) => Source) },
        },
      ];
    case 'logs':
      return [
        { action: `logs:${operation}`, resource: `arn:aws:logs:${place}:log-group:${body.logGroupName}:*` },
      ];
    case 'monitoring':
      return [{ action: 'cloudwatch:DescribeAlarms', resource: `arn:aws:cloudwatch:${place}:alarm:*` }];
    case 'lambda':
      return [
        { action: 'lambda:InvokeFunction', resource: decodeURIComponent(raw.path.split('/')[3] ?? '') },
      ];
    case 's3':
      return objectRequests(raw);
    default:
      throw new Error(`A request of an unknown service: ${JSON.stringify(raw).slice(0, 300)}`);
  }
}

const written: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

function tableRequests(operation: string, body: any): Asked[] {
  const asked = (action: string, name: string, keys: any[], index?: string): Asked => ({
    action: `dynamodb:${action}`,
    resource: `arn:aws:dynamodb:${place}:table/${name.split('/').at(-1)}${index === undefined ? '' : `/index/${index}`}`,
    context: { 'dynamodb:LeadingKeys': keys.map((key) => key.S ?? key.N) },
  });
  if (body.TransactItems)
    return body.TransactItems.flatMap((item: any) =>
      Object.entries<any>(item).map(([kind, { TableName: name, Key: key, Item: made }]) =>
        asked(written[kind] ?? kind, name, [(key ?? made)[partitionKey.name]]),
      ),
    );
  if (operation === 'BatchGetItem')
    return Object.entries<any>(body.RequestItems).map(([name, { Keys: keys }]) =>
      asked(
        operation,
        name,
        keys.map((key: any) => key[partitionKey.name]),
      ),
    );
  const { TableName: name, IndexName: index, Key: key, Item: made } = body;
  const partition = operation === 'Query' ? queriedKey(body) : (key ?? made)[partitionKey.name];
  const request = asked(operation, name, [partition], index);
  // Roles differ in the attributes of keys only.
  if (operation !== 'UpdateItem' || !partition.S.startsWith(keyPrefixes.key)) return [request];
  const attributes = [...Object.keys(key), ...Object.values<string>(body.ExpressionAttributeNames)];
  return [{ ...request, context: { ...request.context, 'dynamodb:Attributes': attributes } }];
}

/** Returns the partition key that a query is for. */
function queriedKey({
  KeyConditionExpression: where,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: values,
}: any): any {
  for (const [, name = '', value = ''] of where.matchAll(/(#\w+) = (:\w+)/g))
    if (keyNames.includes(names[name])) return values[value];
  throw new Error(`A query without a partition key: ${where}`);
}

function objectRequests({ method, path, query, body }: Raw): Asked[] {
  const [, bucket = '', key] = /^\/([^/]+)\/?(.*)$/.exec(decodeURIComponent(path)) ?? [];
  const arn = `arn:aws:s3:::${bucket}`;
  if (method === 'POST' && /(^|&)delete(=|&|$)/.test(query))
    return [...body.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, removed]) => ({
      action: 's3:DeleteObject',
      resource: `${arn}/${removed}`,
    }));
  if (!key) return [{ action: 's3:ListBucket', resource: arn }];
  return [{ action: method === 'PUT' ? 's3:PutObject' : 's3:GetObject', resource: `${arn}/${key}` }];
}
