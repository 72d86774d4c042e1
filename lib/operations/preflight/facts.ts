import { existsSync } from 'node:fs';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { BedrockClient, GetFoundationModelCommand } from '@aws-sdk/client-bedrock';
import {
  CloudFrontClient,
  ListResponseHeadersPoliciesCommand,
  paginateListDistributions,
} from '@aws-sdk/client-cloudfront';
import { IAMClient } from '@aws-sdk/client-iam';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { STSClient } from '@aws-sdk/client-sts';
import type { Pip } from '../../../layers/ffmpeg/packaged-binary.ts';
import { readIdentity, simulateAssumption, simulateDeployment, type SimulatedPolicies } from './policies.ts';
import {
  findDistributionQuota,
  findHeaderPolicyQuota,
  findModelQuotas,
  findTransitionRate,
  readQuotas,
  toFoundationModel,
  type ModelQuotas,
} from './quotas.ts';

/** Result of a request: its value, or the error that AWS returned. */
export type Attempt<Value> = { value: Value } | { error: { name: string; message: string } };

/** Facts of an account that a deployment depends on. */
export type AccountFacts = {
  region: string;
  account: Attempt<string>;
  /** Quota of concurrent executions, and the part that no function has reserved. */
  concurrency: Attempt<{ limit: number; unreserved: number }>;
  /** Regions with the assets bucket of the CDK. */
  bootstrappedRegions: Attempt<string[]>;
  /** Result of one model call with one output token. */
  model: Attempt<'answered'>;
  /** Applied quotas of the model. */
  modelQuotas: Attempt<ModelQuotas>;
  /** Applied state transitions per second; `null` if Service Quotas does not list them. */
  transitionsPerSecond: Attempt<number | null>;
  /** Distributions of the account, and their quota; `null` if Service Quotas does not list it. */
  distributions: Attempt<{ used: number; quota: number | null }>;
  /** Response headers policies of other stacks, and their quota. */
  headerPolicies: Attempt<{ used: number; quota: number }>;
  /** Lifecycle of the model: `LEGACY` before its end, at a date if Bedrock states one. */
  lifecycle: Attempt<{ status: string | undefined; end: Date | undefined }>;
  /** Policies of the role with which CloudFormation creates the resources, for the actions of the stage. */
  deployment: Attempt<SimulatedPolicies>;
  /** Policies of the operator, for the roles of `cdk bootstrap`. */
  assumption: Attempt<SimulatedPolicies>;
  /** State of the layer of the architecture: `buildable` if there is a pip, `missing` without one. */
  layer: 'built' | 'buildable' | 'missing';
};

/** Clients of the region of the stack, and of the region of the model. */
export type FactClients = {
  lambda: LambdaClient;
  s3: S3Client;
  bedrock: BedrockRuntimeClient;
  models: BedrockClient;
  quotas: ServiceQuotasClient;
  modelQuotas: ServiceQuotasClient;
  /** Service Quotas of us-east-1, which has those of CloudFront. */
  globalQuotas: ServiceQuotasClient;
  cloudFront: CloudFrontClient;
  iam: IAMClient;
  sts: STSClient;
};

/** Creates the clients with the credentials of the operator. */
export function createFactClients(region: string, modelRegion: string): FactClients {
  return {
    lambda: new LambdaClient({ region }),
    s3: new S3Client({ region }),
    bedrock: new BedrockRuntimeClient({ region: modelRegion }),
    models: new BedrockClient({ region: modelRegion }),
    quotas: new ServiceQuotasClient({ region }),
    modelQuotas: new ServiceQuotasClient({ region: modelRegion }),
    globalQuotas: new ServiceQuotasClient({ region: 'us-east-1' }),
    cloudFront: new CloudFrontClient({ region: 'us-east-1' }),
    iam: new IAMClient({ region: 'us-east-1' }),
    sts: new STSClient({ region }),
  };
}

/**
 * Reads the facts. Changes nothing; the model call costs less than a hundredth of a cent. Does not throw for errors of
 * AWS.
 */
export async function readFacts(
  clients: FactClients,
  {
    region,
    stack,
    qualifier,
    modelId,
    calledId = modelId,
    actions,
    layerFile,
    pip,
  }: {
    region: string;
    stack: string;
    /** Qualifier of the bootstrap, by the context of the CDK. */
    qualifier: string;
    modelId: string;
    /** Id that calls name: the ARN of an application inference profile, if the stage has one. */
    calledId?: string;
    /** Actions that create the resources of the stage. */
    actions: readonly string[];
    layerFile: string;
    pip: Pip;
  },
): Promise<AccountFacts> {
  const { lambda, s3, bedrock } = clients;
  const assets = new RegExp(`^cdk-${qualifier}-assets-\\d{12}-(.+)$`);
  const account = attempt(async () => (await readIdentity(clients.sts)).account);
  const concurrency = attempt(async () => {
    const { AccountLimit: limits } = await lambda.send(new GetAccountSettingsCommand({}));
    const limit = limits?.ConcurrentExecutions ?? 0;
    return { limit, unreserved: limits?.UnreservedConcurrentExecutions ?? limit };
  });
  const bootstrappedRegions = attempt(async () => {
    const { Buckets: buckets = [] } = await s3.send(new ListBucketsCommand({}));
    return buckets.flatMap(({ Name: name = '' }) => assets.exec(name)?.[1] ?? []);
  });
  const model = attempt(async () => {
    const messages = [{ role: 'user' as const, content: [{ text: 'Hello' }] }];
    await bedrock.send(
      new ConverseCommand({ modelId: calledId, messages, inferenceConfig: { maxTokens: 1 } }),
    );
    return 'answered' as const;
  });
  const modelQuotas = attempt(async () =>
    findModelQuotas(await readQuotas(clients.modelQuotas, 'bedrock'), modelId),
  );
  const transitionsPerSecond = attempt(
    async () => findTransitionRate(await readQuotas(clients.quotas, 'states')) ?? null,
  );
  const distributions = attempt(async () => countDistributions(clients));
  const headerPolicies = attempt(async () => countHeaderPolicies(clients, `${stack}-${region}-`));
  const lifecycle = attempt(async () => readLifecycle(clients, modelId));
  const deployment = attempt(async () => simulateDeployment(clients, { region, qualifier }, actions));
  const assumption = attempt(async () => simulateAssumption(clients, { region, qualifier }));
  const layer = findLayer(layerFile, pip);
  // None rejects: an attempt returns its error.
  return {
    region,
    account: await account,
    concurrency: await concurrency,
    bootstrappedRegions: await bootstrappedRegions,
    model: await model,
    modelQuotas: await modelQuotas,
    transitionsPerSecond: await transitionsPerSecond,
    distributions: await distributions,
    headerPolicies: await headerPolicies,
    lifecycle: await lifecycle,
    deployment: await deployment,
    assumption: await assumption,
    layer: await layer,
  };
}

async function findLayer(file: string, pip: Pip): Promise<AccountFacts['layer']> {
  if (existsSync(file)) return 'built';
  return pip(['--version']).then(
    () => 'buildable',
    () => 'missing',
  );
}

async function countDistributions({ cloudFront, globalQuotas }: FactClients) {
  let used = 0;
  for await (const { DistributionList: list } of paginateListDistributions({ client: cloudFront }, {}))
    used += list?.Items?.length ?? 0;
  // The number is worth reporting without the quota.
  const quotas = await readQuotas(globalQuotas, 'cloudfront').catch(() => []);
  return { used, quota: findDistributionQuota(quotas) ?? null };
}

async function countHeaderPolicies({ cloudFront, globalQuotas }: FactClients, ownPrefix: string) {
  let used = 0;
  let from: string | undefined;
  do {
    const page = { Type: 'custom', ...(from !== undefined && { Marker: from }) } as const;
    const { ResponseHeadersPolicyList: list } = await cloudFront.send(
      new ListResponseHeadersPoliciesCommand(page),
    );
    const names = (list?.Items ?? []).map(
      ({ ResponseHeadersPolicy: policy }) => policy?.ResponseHeadersPolicyConfig?.Name ?? '',
    );
    used += names.filter((name) => !name.startsWith(ownPrefix)).length;
    from = list?.NextMarker;
  } while (from !== undefined);
  return { used, quota: findHeaderPolicyQuota(await readQuotas(globalQuotas, 'cloudfront').catch(() => [])) };
}

async function readLifecycle({ models }: FactClients, modelId: string) {
  const modelIdentifier = toFoundationModel(modelId);
  const { modelDetails } = await models.send(new GetFoundationModelCommand({ modelIdentifier }));
  const { status, endOfLifeTime: end } = modelDetails?.modelLifecycle ?? {};
  return { status, end };
}

async function attempt<Value>(read: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await read() };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message } };
  }
}
