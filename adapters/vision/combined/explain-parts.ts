import { listSureAnswers } from '../objects/decide-surely.ts';

/** Share of the checks in which forecasts assume that the second model is asked about a condition of which the object model can be sure. */
const assumedAskedShare = 0.5;

/** Says which model answers a condition, and in which share of the checks the second one is expected to be asked. */
export function explainParts(condition: string, second: string): { message: string; askedShare: number } {
  const answers = listSureAnswers(condition);
  if (answers.length === 0)
    return {
      message: `Each check asks ${second}: the built-in object model cannot be sure of this.`,
      askedShare: 1,
    };
  const words = answers.map((answer) => (answer ? 'yes' : 'no')).join(' or ');
  return {
    message: `The built-in object model answers ${words} where it is sure, ${second} the rest. The forecast assumes half of the checks for each.`,
    askedShare: assumedAskedShare,
  };
}
