/**
 * Workflow definition that is contradictory or uses a construct that this engine does not implement. Each problem names the state
 * and the construct.
 */
export class WorkflowDefinitionError extends Error {
  override readonly name = 'WorkflowDefinitionError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The workflow definition cannot be run:\n- ${problems.join('\n- ')}`);
    this.problems = problems;
  }
}
