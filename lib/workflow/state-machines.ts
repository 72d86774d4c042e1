import { Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  LogLevel,
  StateMachine,
  StateMachineType,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createBurstDefinition } from '../../adapters/aws/bursts.ts';
import { rules } from '../../core/rules.ts';
import { listKmsCalls, serviceKey, viaService } from '../storage/service-key.ts';
import type { ServiceFunction } from '../function/service-function.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import type { WorkflowNames } from './workflow-names.ts';
import { projectFolder } from '../files.ts';

type Props = {
  names: WorkflowNames;
  capture: ServiceFunction;
  analyze: ServiceFunction;
  log: ILogGroup;
  settings: Pick<StageSettings, 'burstSeconds'>;
};

/**
 * State machines of runs. With bursts, an execution of `inBursts` runs its ticks in executions of `burst`; without, an
 * execution of `continuous` runs them all, as one machine does. All three exist in both modes: executions continue on
 * the machine that they started on.
 */
export class StateMachines extends Construct {
  readonly continuous: StateMachine;
  readonly inBursts: StateMachine;
  readonly burst: StateMachine;

  constructor(scope: Construct, id: string, { names, capture, analyze, log, settings }: Props) {
    super(scope, id);
    const run = readDefinition('run.asl.json');
    const functions = { AnalyzeFunctionArn: analyze.live.functionArn };
    const both = { ...functions, CaptureFunctionArn: capture.live.functionArn };
    const burstSeconds = settings.burstSeconds || rules.maxBurstSeconds;

    this.continuous = this.#stateMachine('StateMachine', {
      // Explicit names: Analyze starts the next generation, and its ARN would be a circular dependency.
      stateMachineName: names.continuous,
      definition: { ...run, TimeoutSeconds: rules.executionTimeoutSeconds },
      functions: [analyze, capture],
      substitutions: both,
      log,
    });
    this.burst = this.#stateMachine('Burst', {
      stateMachineName: names.burst,
      definition: createBurstDefinition(run, burstSeconds),
      functions: [analyze, capture],
      substitutions: both,
      log,
      express: true,
    });
    this.inBursts = this.#stateMachine('Jobs', {
      stateMachineName: names.inBursts,
      definition: { ...readDefinition('bursts.asl.json'), TimeoutSeconds: rules.executionTimeoutSeconds },
      functions: [analyze],
      substitutions: { ...functions, BurstStateMachineArn: this.burst.stateMachineArn },
      log,
    });
    this.inBursts.addToRolePolicy(
      new PolicyStatement({
        actions: ['states:StartSyncExecution'],
        resources: [this.burst.stateMachineArn],
      }),
    );
    const key = serviceKey(this);
    for (const { service, calls } of listKmsCalls(['states:StartSyncExecution']))
      if (key) this.inBursts.addToRolePolicy(viaService(this, key, service, calls));
  }

  #stateMachine(
    id: string,
    {
      stateMachineName,
      definition,
      functions,
      substitutions,
      log,
      express = false,
    }: {
      stateMachineName: string;
      definition: object;
      functions: ServiceFunction[];
      substitutions: Record<string, string>;
      log: ILogGroup;
      express?: boolean;
    },
  ): StateMachine {
    const role = new Role(this, id === 'StateMachine' ? 'Role' : `${id}Role`, {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
    });
    const key = serviceKey(this);
    const stateMachine = new StateMachine(this, id, {
      stateMachineName,
      stateMachineType: express ? StateMachineType.EXPRESS : StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
      definitionSubstitutions: substitutions,
      role,
      ...(key && { encryptionConfiguration: new CustomerManagedEncryptionConfiguration(key) }),
      // Inputs and outputs of tasks are data of callers.
      logs: { destination: log, level: express ? LogLevel.ERROR : LogLevel.ALL, includeExecutionData: false },
    });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        // By their names too: executions that began before the functions had an alias keep their definition.
        resources: functions.flatMap(({ live, lambda }) => [live.functionArn, lambda.functionArn]),
      }),
    );
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'The actions for log delivery (CreateLogDelivery and others) accept no resource (Step Functions guide, logging).',
    });
    for (const rule of ['AwsSolutions-SF2', 'Serverless-StepFunctionStateMachineXray'])
      Validations.of(stateMachine).acknowledge({
        id: rule,
        reason:
          'A trace has at most 500 kB and would be full after some ticks of an execution (X-Ray quotas). Each log entry has the id of its job.',
      });
    if (express)
      Validations.of(stateMachine).acknowledge({
        id: 'AwsSolutions-SF1',
        reason:
          'Level ERROR: a log of each state would cost more than the executions. Functions log each tick, and failed executions are logged.',
      });
    return stateMachine;
  }
}

export function readDefinition(file: string): Record<string, unknown> {
  const text = readFileSync(`${projectFolder}lib/workflow/${file}`, 'utf8');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
