/** The workflow's definition holds what this engine does not implement, or contradicts itself. Each problem names the state and the construct. */
export class WorkflowDefinitionError extends Error {
  override readonly name = 'WorkflowDefinitionError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The workflow definition cannot be run:\n- ${problems.join('\n- ')}`);
    this.problems = problems;
  }
}
