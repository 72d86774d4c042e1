import type { Condition } from '../../../../adapters/vision/condition/condition.ts';

/** Formats a condition in the notation of the tables of sentences: "person>=2 & !car:red". */
export function shortCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'not':
      return `!${shortCondition(condition.of)}`;
    case 'all':
      return condition.of.map(shortCondition).join(' & ');
    case 'any':
      return condition.of.map(shortCondition).join(' | ');
    case 'objects': {
      const { classes, colors, compare, count } = condition;
      const color = colors.length === 0 ? '' : `:${colors.join('/')}`;
      const limit = compare === 'at most' ? `<=${count}` : count === 1 ? '' : `>=${count}`;
      return `${classes.join('/')}${color}${limit}`;
    }
    case 'unmeasurable':
      return '?';
    default:
      return condition.kind;
  }
}
