/** Version of the stored records. Increment it with a change of a record that records before it do not fit: there is no migration before release 1.0. */
export const recordVersion = 15;
