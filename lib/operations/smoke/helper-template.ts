import { readFileSync } from 'node:fs';

/**
 * Template of the helper stack that `npm run smoke` creates beside a deployment and deletes at its end: a live stream,
 * a receiver of webhooks with a queue, and two state machines that measure how long a synchronous Express execution is
 * held. Without assets, so that it needs no bootstrap.
 */

const folder = new URL('helper/', import.meta.url);

/** Path of the stream below the URL of the helper. */
export const streamPath = '/live.m3u8';
/** Path of the receiver of webhooks below the URL of the helper. */
export const hookPath = '/hook';

/** Maximum size of a template in the request that creates a stack, in bytes (CloudFormation quotas). */
export const maxTemplateBytes = 51_200;

/** Returns the source of the function, with the stored segments. */
export function helperSource(): string {
  return readFile('index.cjs').replace('/* SEGMENTS */ []', () => readFile('segments.json').trim());
}

function readFile(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

export function createHelperTemplate(): object {
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'Watchpost: helper of the smoke test. Delete it if no smoke test runs.',
    Resources: { ...receiver(), ...hold() },
    Outputs: {
      ApiId: { Value: { Ref: 'Api' } },
      Url: { Value: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] } },
      QueueUrl: { Value: { Ref: 'Queue' } },
      HoldMachine: { Value: { Ref: 'HoldCaller' } },
    },
  };
}

function receiver(): object {
  return {
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        MessageRetentionPeriod: 3600,
        // An alert contains its frame.
        MaximumMessageSize: 1_048_576,
        SqsManagedSseEnabled: true,
      },
    },
    FunctionRole: role('lambda.amazonaws.com', 'sqs:SendMessage', { 'Fn::GetAtt': ['Queue', 'Arn'] }),
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Description: 'Watchpost: stream and receiver of the smoke test',
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        MemorySize: 256,
        Timeout: 10,
        Role: { 'Fn::GetAtt': ['FunctionRole', 'Arn'] },
        Code: { ZipFile: helperSource() },
        Environment: { Variables: { QUEUE_URL: { Ref: 'Queue' } } },
      },
    },
    Api: {
      Type: 'AWS::ApiGatewayV2::Api',
      Properties: { Name: { Ref: 'AWS::StackName' }, ProtocolType: 'HTTP' },
    },
    Integration: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        ApiId: { Ref: 'Api' },
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': ['Function', 'Arn'] },
        PayloadFormatVersion: '2.0',
      },
    },
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: { Ref: 'Api' },
        RouteKey: '$default',
        Target: { 'Fn::Sub': 'integrations/${Integration}' },
      },
    },
    Stage: {
      Type: 'AWS::ApiGatewayV2::Stage',
      Properties: { ApiId: { Ref: 'Api' }, StageName: '$default', AutoDeploy: true },
    },
    Permission: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: { Ref: 'Function' },
        Principal: 'apigateway.amazonaws.com',
        SourceArn: {
          'Fn::Sub': 'arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*',
        },
      },
    },
  };
}

/**
 * Returns a Standard state machine that holds a synchronous Express execution for `$.seconds`, as `jobs` of a
 * deployment holds a burst.
 */
function hold(): object {
  return {
    HoldRole: role('states.amazonaws.com'),
    Hold: {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: {
        StateMachineType: 'EXPRESS',
        RoleArn: { 'Fn::GetAtt': ['HoldRole', 'Arn'] },
        DefinitionString: JSON.stringify({
          StartAt: 'Hold',
          States: { Hold: { Type: 'Wait', SecondsPath: '$.seconds', End: true } },
        }),
      },
    },
    HoldCallerRole: role('states.amazonaws.com', 'states:StartSyncExecution', { Ref: 'Hold' }),
    HoldCaller: {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: {
        RoleArn: { 'Fn::GetAtt': ['HoldCallerRole', 'Arn'] },
        DefinitionString: {
          'Fn::Sub': JSON.stringify({
            StartAt: 'Call',
            States: {
              Call: {
                Type: 'Task',
                Resource: 'arn:${AWS::Partition}:states:::aws-sdk:sfn:startSyncExecution',
                Parameters: { StateMachineArn: '${Hold}', 'Input.$': 'States.JsonToString($)' },
                TimeoutSeconds: 310,
                End: true,
              },
            },
          }),
        },
      },
    },
  };
}

function role(service: string, action?: string, resource?: object): object {
  const policy = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: action, Resource: resource }],
  };
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }],
      },
      ...(action !== undefined && { Policies: [{ PolicyName: 'smoke', PolicyDocument: policy }] }),
    },
  };
}
