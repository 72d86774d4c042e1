import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RemovalPolicy } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { BucketDeployment, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { suppressAccessLogFindings, PrivateBucket } from '../private-bucket.ts';
import { errorPages } from './error-pages.ts';
import { suppressDeploymentFindings } from './suppress-deployment.ts';

type Props = { accessLogs: PrivateBucket | undefined; log: ILogGroup; deploy: boolean; keepData: boolean };

const built = fileURLToPath(new URL('../../console/dist/', import.meta.url));
const placeholder = fileURLToPath(new URL('./console-placeholder/', import.meta.url));

/** Files of the web console and error pages below `console/`, in a bucket that only CloudFront reads. */
export class ConsoleSite extends Construct {
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { accessLogs, log, deploy, keepData }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      // The files can be built again from the repository.
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: !keepData,
      accessLogs: accessLogs && { bucket: accessLogs, prefix: 'console/' },
    });
    if (!accessLogs) suppressAccessLogFindings(this.bucket);
    if (deploy) this.#deploy(log);
  }

  #deploy(logGroup: ILogGroup): void {
    const deployment = new BucketDeployment(this, 'Files', {
      sources: [
        Source.asset(existsSync(`${built}index.html`) ? built : placeholder),
        ...errorPages.map(({ file, envelope }) => Source.jsonData(file, envelope)),
      ],
      destinationBucket: this.bucket,
      destinationKeyPrefix: 'console',
      logGroup,
    });
    suppressDeploymentFindings(deployment, this.bucket);
  }
}
