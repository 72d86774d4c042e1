import { Stack, Validations } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { BucketDeployment } from 'aws-cdk-lib/aws-s3-deployment';
import { explainWildcards } from '../explain-wildcards.ts';

/** What cdk-nag finds at CDK's own function that copies files to a bucket while the stack is deployed. */
export function explainDeployment({ handlerRole }: BucketDeployment, destination: IBucket): void {
  const handler = handlerRole.node.scope;
  if (!handler) throw new Error('The role of a deployment belongs to its function');
  const reason =
    'CDK makes this function and its role to copy the console. It runs in deployments only, and reads the assets of CDK and changes the bucket of the console, which nobody else may.';
  const ids = [
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    ...['s3:GetBucket*', 's3:GetObject*', 's3:List*', 's3:Abort*', 's3:DeleteObject*'].map(
      (action) => `AwsSolutions-IAM5[Action::${action}]`,
    ),
    'AwsSolutions-L1',
    'Serverless-LambdaLatestVersion',
    'Serverless-LambdaDLQ',
    'Serverless-LambdaTracing',
  ];
  Validations.of(handler).acknowledge(...ids.map((id) => ({ id, reason })));
  explainWildcards(handler, [`${destination.bucketArn}/*`, assets(Stack.of(handler))], reason);
}

/** The bucket of `cdk bootstrap`. */
function assets({ partition, account, region, synthesizer }: Stack): string {
  const qualifier = synthesizer.bootstrapQualifier ?? 'hnb659fds';
  return `arn:${partition}:s3:::cdk-${qualifier}-assets-${account}-${region}/*`;
}
