import { expect, test } from 'vitest'
import { examplesOf, outputFits, withOutputs } from './page.ts'

const PAGE = `# A page

\`\`\`sh
leasectl ls
leasectl show a
\`\`\`

\`\`\`text
NAME
\`\`\`

\`\`\`sh elsewhere
leasectl ls --store azure:acct/box
\`\`\`

\`\`\`text
not an output
\`\`\`

\`\`\`sh
leasectl ls   # exit 3
\`\`\`

Other words.

\`\`\`text
not an output
\`\`\`
`

test('the examples of a page are its sh blocks with the text that follows them', () => {
  expect(examplesOf(PAGE)).toEqual([
    { script: { line: 4, lines: ['leasectl ls', 'leasectl show a'] }, output: { line: 9, lines: ['NAME'] } },
    { script: { line: 21, lines: ['leasectl ls   # exit 3'] } },
  ])
})

test.each(['NAME\n', 'NAME\nold\n', '\n', ''])('an output can be replaced, the rest is unchanged: %j', old => {
  const page = PAGE.replace('NAME\n', old)
  const outputs = examplesOf(page).map(example => [example, 'NAME  \nfresh\n'] as const)
  expect(withOutputs(page, outputs)).toBe(PAGE.replace('NAME\n', 'NAME\nfresh\n'))
})

test.each([
  ['orders/1  AGE 1m30s', 'orders/1   AGE   22s', true],
  ['60 done', '59 done', false],
  ['orders/1  v3', 'orders/1  v4', false],
  ['01.00 Search', '02.00 Search', false],
  ['orders/1  done', 'orders/1  failed', false],
  ['20:06:45 v1', '09:00:00 v1', true],
  ['2026-11-21T20:08:37.776Z', '2027-01-01T00:00:00.000Z', true],
  ['runs/20261121T200718Z-cancel-cda7365f.ndjson', 'runs/20270101T000000Z-cancel-01234567.ndjson', true],
  ['list 9.3 ms, 16 KiB (pid 4)', 'list 5 ms, 1 KiB (pid 512)', true],
  ['│0s   │2s    S\n░░██✓ a', '│0s │1s │2s S\n░█✓ a', true],
  ['NAME\n…\norders/9', 'NAME\na\nb\norders/9', true],
  ['NAME\n…\norders/9', 'NAME\na\nb', false],
  ['error: …', 'error: (anything) [at all]', true],
  ['a\nb', 'a', false],
  ['a', 'a\nb', false],
  ['a (b)', 'a (b)', true],
])('%j shows %j: %s', (shown, printed, fits) => {
  expect(outputFits(shown.split('\n'), printed)).toBe(fits)
})
