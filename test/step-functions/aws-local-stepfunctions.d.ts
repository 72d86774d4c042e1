/** The part in use. Declared here, because types are checked before `install.ts` has installed the package. */
declare module 'aws-local-stepfunctions' {
  type Overrides = {
    taskResourceLocalHandlers: Record<string, (given: unknown) => Promise<unknown>>;
    waitTimeOverrides?: Record<string, number>;
    retryIntervalOverrides?: Record<string, number>;
  };
  type LoggedEvent =
    | { type: 'StateEntered'; state: { name: string; input: any } }
    | { type: 'StateExited'; state: { name: string; output: unknown } };
  export class StateMachine {
    constructor(definition: unknown);
    run(
      input: unknown,
      options: { overrides: Overrides; context?: object },
    ): { result: Promise<any>; eventLogs: AsyncIterable<LoggedEvent> };
  }
  export type ExecutionError = Error;
}
