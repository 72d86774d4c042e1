import { executionInputSchema, type ExecutionInput } from '../../core/records/workflow.ts';

/** Parses an execution name. Returns undefined for names of other executions. */
export function readExecutionName(name: string): ExecutionInput | undefined {
  const [, jobId, generation] = /^(.{36})-(\d{1,9})$/.exec(name) ?? [];
  const read = executionInputSchema.safeParse({ run_id: jobId, generation: Number(generation) });
  return read.success ? read.data : undefined;
}

/** Returns `arn:aws:states:<region>:<account>:execution:<state machine>:<name>`. */
export function executionArn(stateMachineArn: string, name: string): string {
  return `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
}
