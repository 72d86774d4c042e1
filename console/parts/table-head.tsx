type Props = {
  columns: readonly string[];
  /** Columns of numbers, which are aligned to the right. */
  numbers?: readonly string[];
};

/** Shows the head of a table. */
export function TableHead({ columns, numbers = [] }: Props) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col" class={numbers.includes(column) ? 'number' : undefined}>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}
