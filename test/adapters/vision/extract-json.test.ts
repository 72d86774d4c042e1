import { expect, test } from 'vitest';
import { extractCutJson, extractJson } from '../../../adapters/vision/extract-json.ts';

const long = 500_000;

test.each([
  ['open braces', '{'.repeat(long)],
  ['nested objects', '{'.repeat(long) + '}'.repeat(long)],
  ['open texts', '{"'.repeat(long)],
  ['objects that are no JSON', '{a}'.repeat(long)],
  ['open lists', '{"a":'.repeat(30) + '['.repeat(long) + ']'.repeat(long)],
  ['open thoughts', '<think>{'.repeat(long)],
  ['fences', '`'.repeat(long)],
  ['thoughts and braces', '{<think></think>'.repeat(long / 8)],
  ['spaces behind a brace', `}${' '.repeat(long)}`],
])('a megabyte of %s is no object, and costs no more than its length', (_, text) => {
  expect([extractJson(text), extractCutJson(text)]).toEqual([undefined, undefined]);
});

test('an object is found behind thirty braces of prose, and a cut one is not: the prose may be thoughts', () => {
  const prose = 'if (x) { y } '.repeat(30);
  expect(extractJson(`${prose}{"triggered":true}`)).toEqual({ triggered: true });
  expect(extractCutJson(`${prose}{"triggered":true,"explanation":"A va`)).toBeUndefined();
});

const draft = 'Perhaps {"triggered": true, "explanation": "A person."} No: a bush.';
const answer = '{"triggered": false, "explanation": "A bush."}';

test.each([
  ['a pair of marks', `<think>${draft}</think>${answer}`],
  ['a closing mark alone', `${draft}\n</think>\n\n${answer}`],
  ['thoughts that hold an opening mark', `${draft} <think> ${draft}</think>${answer}`],
  ['<thinking>', `<thinking>${draft}</thinking>${answer}`],
  ['a mark with a prefix', `<seed:think>${draft}</seed:think>${answer}`],
  [
    'a mark with a longer name',
    `<my_think>${draft}</my_think><thinking_process>${draft}</thinking_process>${answer}`,
  ],
  ['a mark with bars', `<|thought|>${draft}<|/thought|>${answer}`],
  ['Magistral', `[THINK]${draft}[/THINK]${answer}`],
  ['Kimi-VL', `◁think▷${draft}◁/think▷${answer}`],
  ['Gemma 4', `<|channel>thought\n${draft}<channel|>${answer}`],
  ['MedGemma', `<unused94>thought\n${draft}<unused95>${answer}`],
  ['Command A', `<|START_THINKING|>${draft}<|END_THINKING|><|START_RESPONSE|>${answer}<|END_RESPONSE|>`],
  [
    'gpt-oss',
    `<|channel|>analysis<|message|>${draft}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>${answer}<|return|>`,
  ],
  ['gpt-oss without special tokens', `analysis${draft}assistantfinal${answer}`],
  ['prose without marks', `${draft}\n${answer}`],
  ['a fence for each', `\`\`\`json\n{"triggered": true}\n\`\`\`\nNo.\n\`\`\`json\n${answer}\n\`\`\`\nDone.`],
  ['fifty drafts', `${draft.repeat(50)}${answer}`],
  ['a turn that nobody wrote', `${answer}<|im_end|>\n<|im_start|>user\n${draft}`],
  ['a turn behind a fence', `\`\`\`json\n${answer}\n\`\`\`<end_of_turn>\n${draft}`],
  ['a turn of other tokens', `<think>${draft}</think>${answer}</s>[INST] ${draft}`],
  ['a turn with thoughts', `${answer}<|im_end|>\n<|im_start|>assistant\n<think>Hm.</think>${draft}`],
  ['a turn behind a remark', `${answer} Done.<|im_end|>\n<|im_start|>user\n${draft}`],
  ['a turn of thoughts alone', `${answer}<|im_end|><think>${draft}</think>`],
  ['cut thoughts behind an end', `<think>${draft}</think>${answer}<|im_end|><think>${draft}`],
  ['a turn behind a channel', `${answer}<|return|><|channel|>analysis<|message|>${draft}`],
  ['a draft at the end of a turn of thoughts', `{"triggered": true}<|end|> No.</think>${answer}`],
  [
    'a draft at the end of a channel',
    `<|channel|>analysis<|message|>{"triggered": true}<|end|><|start|>assistant<|channel|>final<|message|>${answer}`,
  ],
  ['a begin of the turn of the answer', `Let me think: ${draft}<|im_start|>assistant\n${answer}`],
  ['a begin of a turn behind labelled thoughts', `Thoughts: ${draft}\n<|start|>assistant\n${answer}`],
  ['a begin of a turn in a head', `${draft}<|start_header_id|>assistant<|end_header_id|>\n\n${answer}`],
  ['a begin of a turn of Gemma', `${draft}<start_of_turn>model\n${answer}`],
  ['a begin of a turn of GLM', `${draft}<|assistant|>\n${answer}`],
  ['a begin of a turn of DeepSeek', `${draft}<｜Assistant｜>${answer}`],
  ['a box', `<think>${draft}</think><answer><|begin_of_box|>${answer}<|end_of_box|></answer>`],
])('the object after all thoughts is the answer: %s', (_, text) => {
  expect(extractJson(text)).toEqual({ triggered: false, explanation: 'A bush.' });
});

const ends = [
  '<|eot|> <|im_start|> <|im_start|>user <|return|> <|observation|> <|END_RESPONSE|> <turn|> <eos> <end_of_utterance>',
  '[|endofturn|] <|system|> <|im_user|> <|im_system|> [EOS] <|header_start|>user <|start_header_id|>user',
];

test.each(ends.join(' ').split(' '))('the answer is the object before %s', (mark) => {
  for (const before of ['', `<think>${draft}</think>`, 'Sure: '])
    for (const behind of [draft, `<think>${draft}</think>`, `<think>${draft}</think>${draft}`])
      expect(extractJson(`${before}${answer}${mark}${behind}`)).toEqual(JSON.parse(answer));
});

test.each(
  '<|assistant|> <｜Assistant｜> <|im_assistant|> <|im_start|>assistant <|header_start|>assistant'.split(' '),
)(
  'a text that begins with the answer ends before %s: the turn behind it is one that nobody wrote',
  (mark) => {
    for (const behind of [draft, `<think>${draft}</think>`, `<think>${draft}</think>${draft}`])
      expect(extractJson(`${answer}\n${mark}${behind}`)).toEqual(JSON.parse(answer));
  },
);

test.each([
  ['before the closing mark', draft],
  ['behind a draft', `${draft} {"triggered": false, "expl`],
  ['in thoughts with a mark', `<think>${draft}`],
  ['in thoughts with a longer mark', `<my_think>${draft}`],
  ['in an open draft', 'Perhaps {"triggered": true, "explanation": "A per'],
  ['in a second channel', `<|channel|>analysis<|message|>${draft}`],
])('an answer that is cut %s is not taken', (_, text) => {
  expect([extractJson(text, true), extractCutJson(text)]).toEqual([undefined, undefined]);
});

test('an object that lacks its end is not taken, whatever complete objects it holds or follow a draft', () => {
  expect(extractJson('{"draft": {"triggered": true}, "triggered": fal')).toBeUndefined();
  expect(extractJson(`${draft} {"triggered": fal`)).toBeUndefined();
});

test('a complete answer is kept if only its space or fence is cut, and a mark in its words ends no thought', () => {
  expect(extractJson(`\`\`\`json\n${answer}\n   `, true)).toEqual({
    triggered: false,
    explanation: 'A bush.',
  });
  const sign = { triggered: true, explanation: 'A sign reads </think> and <think>.' };
  expect(extractJson(JSON.stringify(sign))).toEqual(sign);
  expect(extractJson(`${JSON.stringify(sign)}<|im_end|>\n${draft}`)).toEqual(sign);
});

test.each([
  ['names without quotes', '{triggered: false, explanation: "A bush."}'],
  ['another word', '{"triggered": No, "explanation": "A bush."}'],
])('no draft stands for an answer that is no JSON: %s', (_, text) => {
  expect(extractJson(`${draft}\n${text}`)).toBeUndefined();
});

test.each([
  ['single quotes', "{'triggered': false, 'explanation': 'A bush.'}"],
  ['a remark', '{"triggered": false, // no person\n "explanation": "A bush."}'],
  ['a word of Python', '{"triggered": False, "explanation": "A bush."}'],
  ['quotes and words of Python', "{'triggered': False, 'explanation': \"A bush.\"}"],
  ['a text of JSON', JSON.stringify('{"triggered": false, "explanation": "A bush."}')],
  [
    'a text of JSON with line ends',
    JSON.stringify('{\n  "triggered": false,\n  "explanation": "A bush."\n}'),
  ],
  ['a text of JSON in a fence', `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``],
  ['quotes of typography', '{“triggered”: false, “explanation”: “A bush.”}'],
  ['German quotes', '{„triggered“: false, „explanation“: „A bush.“}'],
  ['spaces that do not break', answer.replaceAll(' ', '\u00a0')],
  ['escapes that JSON does not have', String.raw`{"triggered": false, "explanation": "A\ bush\."}`],
  ['a labelled answer behind labelled thoughts', `Thought: ${draft}\nAction: none\nAnswer: ${answer}`],
])('an answer that only its writing keeps from being JSON is read: %s', (_, text) => {
  expect(extractJson(text)).toEqual({ triggered: false, explanation: 'A bush.' });
});

test('words and quotes within a text stay as they are', () => {
  expect(extractJson(`{'triggered': True, 'explanation': 'It\\'s “None”, a "True" dog.'}`)).toEqual({
    triggered: true,
    explanation: `It's “None”, a "True" dog.`,
  });
});

test.each(['Thought: ', '**Thoughts:** ', 'I look.\n## Thinking\n'])(
  'an object behind "%s" is a draft',
  (label) => {
    const drafted = '{"triggered": true, "explanation": "A person?"}';
    expect(extractJson(`${label}${drafted}`)).toBeUndefined();
    expect(extractJson(`${label}${drafted}\nFinal answer: nobody.`)).toBeUndefined();
    expect(extractJson(`${label}${drafted}\n${answer}`)).toEqual({
      triggered: false,
      explanation: 'A bush.',
    });
  },
);

test('a comma behind the last value is no error, and the draft before it no answer', () => {
  const text = `${draft}\n{"triggered": false, "explanation": "A bush.",\n}`;
  expect(extractJson(text)).toEqual({ triggered: false, explanation: 'A bush.' });
});

test('a line end within a text is no error', () => {
  const text = '{"triggered": false,\n"explanation": "A\nbush."}';
  expect(extractJson(text)).toEqual({ triggered: false, explanation: 'A bush.' });
});

test('a remark with braces behind the answer does not replace it', () => {
  expect(extractJson(`${answer} As {asked}.`)).toEqual({ triggered: false, explanation: 'A bush.' });
});
