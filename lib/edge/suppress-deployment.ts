import { Stack, Validations } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { BucketDeployment } from 'aws-cdk-lib/aws-s3-deployment';
import { suppressWildcardFindings } from '../operations/suppress-wildcards.ts';

/** Acknowledges the cdk-nag findings of the CDK function that copies files to a bucket during a deployment. */
export function suppressDeploymentFindings({ handlerRole }: BucketDeployment, destination: IBucket): void {
  const handler = handlerRole.node.scope;
  if (!handler) throw new Error('Role of the bucket deployment without its function');
  const reason =
    'CDK creates this function and its role to copy console and reference page. It runs only in deployments, reads the CDK assets and is the only role that changes the bucket of the console.';
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
  suppressWildcardFindings(handler, [`${destination.bucketArn}/*`, assets(Stack.of(handler))], reason);
}

/** Returns the ARN pattern of the assets in the `cdk bootstrap` bucket. */
function assets({ partition, account, region, synthesizer }: Stack): string {
  const qualifier = synthesizer.bootstrapQualifier ?? 'hnb659fds';
  return `arn:${partition}:s3:::cdk-${qualifier}-assets-${account}-${region}/*`;
}
