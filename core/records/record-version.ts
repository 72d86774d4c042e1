/**
 * Version of the stored records and of the state of executions. Increment it with a change that those before it do not
 * fit: there is no migration before release 1.0.
 */
export const recordVersion = 18;
