import { useState } from 'preact/hooks';
import { basePath } from '../api/http.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { Draft, Purpose } from './draft.ts';
import { requestCode } from './request-code.ts';
import type { Language } from './request-code.ts';

const names: Record<Language, string> = { curl: 'curl', typescript: 'TypeScript', python: 'Python' };
const languages = (['curl', 'typescript', 'python'] as const).map((value) => ({
  value,
  label: names[value],
}));
const verbs: Record<Purpose, string> = { look: 'Single check', monitor: 'Monitor', digest: 'Digest' };

/** Shows the request as code, one tab per language. */
export function RequestTabs({ purpose, draft }: { purpose: Purpose; draft: Draft }) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = requestCode(purpose, draft, `${location.origin}${basePath}`);
  return (
    <div class="request">
      <h3>The same request as code</h3>
      <Tabs label="Language" tabs={languages} value={language} onValue={setLanguage}>
        <CodeBlock code={code[language]} label={`${verbs[purpose]} in ${names[language]}`} />
      </Tabs>
      <p class="small muted">
        <code>WATCHPOST_API_KEY</code> is an environment variable with your key. All endpoints are in the{' '}
        <a href="/docs" target="_blank" rel="noreferrer">
          API reference
        </a>
        .
      </p>
    </div>
  );
}
