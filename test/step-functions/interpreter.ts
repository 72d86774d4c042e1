export { StateMachine } from 'aws-local-stepfunctions';
export type { ExecutionError } from 'aws-local-stepfunctions';
