import type { Construct } from 'constructs';
import { stateMachineArn } from '../function/permissions.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

/** Names of the state machines of a deployment. */
export type WorkflowNames = Record<'continuous' | 'inBursts' | 'burst', string>;

/**
 * Returns the names of the state machines of a deployment. Deployed ones keep theirs, which the ARNs of executions
 * contain.
 */
export function workflowNames(service: string): WorkflowNames {
  return {
    continuous: `${service}-watch`,
    inBursts: `${service}-jobs`,
    burst: `${service}-burst`,
  };
}

/** State machine that starts executions, and the one of the other mode, whose executions continue. */
export type ExecutionMachines = { current: string; other: string };

export function executionMachines(
  { continuous, inBursts }: WorkflowNames,
  { burstSeconds }: Pick<StageSettings, 'burstSeconds'>,
): ExecutionMachines {
  return burstSeconds > 0
    ? { current: inBursts, other: continuous }
    : { current: continuous, other: inBursts };
}

/** Returns the environment variables of functions that start executions. */
export function executionEnvironment(scope: Construct, { current, other }: ExecutionMachines) {
  return {
    STATE_MACHINE_ARN: stateMachineArn(scope, current),
    OTHER_STATE_MACHINE_ARN: stateMachineArn(scope, other),
  };
}
