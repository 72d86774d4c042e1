import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { ServiceFunction } from './service-function.ts';

type Props = { name: string; capture: ServiceFunction; analyze: ServiceFunction; log: ILogGroup };

const definitionFile = fileURLToPath(new URL('../workflow/watch.asl.json', import.meta.url));

/** State machine of jobs, with the definition that the embedded engine also runs. */
export class WatchWorkflow extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, { name, capture, analyze, log }: Props) {
    super(scope, id);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      // Explicit name: Analyze starts the next generation, and its ARN would be a circular dependency.
      stateMachineName: name,
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(readFileSync(definitionFile, 'utf8')),
      definitionSubstitutions: {
        AnalyzeFunctionArn: analyze.lambda.functionArn,
        CaptureFunctionArn: capture.lambda.functionArn,
      },
      role,
      tracingEnabled: true,
      // Inputs and outputs of tasks are data of callers.
      logs: { destination: log, level: LogLevel.ALL, includeExecutionData: false },
    });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: [capture.lambda.functionArn, analyze.lambda.functionArn],
      }),
    );
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'The actions for log delivery (CreateLogDelivery and others) and X-Ray (PutTraceSegments and others) accept no resource (Step Functions guide, logging and tracing).',
    });
  }
}
