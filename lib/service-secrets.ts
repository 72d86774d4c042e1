import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/** The two secrets of a deployment. Secrets Manager makes them up, so that nobody has ever seen them. */
export class ServiceSecrets extends Construct {
  /** What the callers' webhook secrets are derived from. */
  readonly master: Secret;
  /** What CloudFront adds to each request, and the origins ask for. */
  readonly origin: Secret;

  constructor(scope: Construct, id: string, { keepData }: { keepData: boolean }) {
    super(scope, id);
    const removalPolicy = keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    // 43 letters and digits are 32 bytes of base64.
    const generateSecretString = { passwordLength: 43, excludePunctuation: true };
    this.master = new Secret(this, 'Master', {
      description: 'Watchpost: the webhook secrets of all callers are derived from it',
      generateSecretString,
      removalPolicy,
    });
    this.origin = new Secret(this, 'Origin', {
      description: 'Watchpost: proves to the origins that a request came through CloudFront',
      generateSecretString,
    });
    Validations.of(this.master).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Rotating it would change the webhook secret of every caller at once. Callers rotate their own by POST /webhook-secret/rotate.',
    });
    Validations.of(this.origin).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'CloudFront takes a new value only with a deployment, so a schedule alone would lock it out. docs/operations.md has the rotation.',
    });
  }
}
