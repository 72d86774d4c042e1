import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RemovalPolicy } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { BucketDeployment, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { ownFiles, packageFiles, referencePage } from '../../adapters/http/reference-files.ts';
import { suppressAccessLogFindings, PrivateBucket } from '../storage/private-bucket.ts';
import { errorPages } from './error-pages.ts';
import { suppressDeploymentFindings } from './suppress-deployment.ts';

type Props = { accessLogs: PrivateBucket | undefined; log: ILogGroup; deploy: boolean; keepData: boolean };

const built = fileURLToPath(new URL('../../console/dist/', import.meta.url));
const placeholder = fileURLToPath(new URL('./console-placeholder/', import.meta.url));

/** Files of the web console and error pages below `console/`, and of the reference page below `docs/`, in a bucket that only CloudFront reads. */
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
    const target = { destinationBucket: this.bucket, logGroup };
    const deployment = new BucketDeployment(this, 'Files', {
      sources: [
        Source.asset(existsSync(`${built}index.html`) ? built : placeholder),
        ...errorPages.map(({ file, envelope }) => Source.jsonData(file, envelope)),
      ],
      destinationKeyPrefix: 'console',
      ...target,
    });
    new BucketDeployment(this, 'Docs', {
      sources: [
        Source.asset(dirname(packageFiles['swagger-ui.css']), {
          exclude: ['**', ...Object.keys(packageFiles).map((name) => `!${name}`)],
        }),
        Source.data('index.html', referencePage),
        ...Object.entries(ownFiles).map(([name, text]) => Source.data(name, text)),
      ],
      destinationKeyPrefix: 'docs',
      ...target,
    });
    suppressDeploymentFindings(deployment, this.bucket);
  }
}
