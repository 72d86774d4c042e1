import { checkPhrases, type Finding } from './rules.ts';

/** Findings in Markdown, without code, addresses of links and quotes of the interface. */
export function checkPage(markdown: string): Finding[] {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');
  const prose = markdown
    .replaceAll(/^```[^]*?^```$/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\s]+\)/g, blank)
    .replaceAll(/^- \*\*I-.*$/gm, blank);
  let offset = 0;
  return prose.split(/(?<=\n)/).flatMap((line) => {
    const start = offset;
    offset += line.length;
    return checkPhrases(line).map((found) => ({
      ...found,
      offset: start + Math.max(0, line.indexOf(found.text)),
    }));
  });
}
