import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { type Example, examplesOf, outputFits, withOutputs } from './page.ts'
import { Story } from './story.ts'

/** With any value, outputs that do not match are written into the pages: review the diff afterwards. */
const REWRITE = process.env.LEASECTL_TEST_REWRITE_DOCS

const ROOT = new URL('../../', import.meta.url)
const PAGES = ['README.md', ...readdirSync(new URL('docs/', ROOT)).map(name => `docs/${name}`)]
  .filter(name => name.endsWith('.md'))
  .map(page => {
    const text = readFileSync(new URL(page, ROOT), 'utf8')
    const examples = examplesOf(text)
    return { page, text, examples, story: new Story(examples) }
  })
  .filter(({ examples }) => examples.length > 0)

afterAll(() => {
  for (const { story } of PAGES) story.end()
})

describe.each(PAGES)('$page', ({ page, text, examples, story }) => {
  const others: (readonly [Example, string])[] = []

  for (const [at, example] of examples.entries()) {
    const { script, output } = example
    const missing = script.lines.some(line => line.includes('python3 ')) && !hasPython() ? ' (skipped: no python3)' : ''
    test.skipIf(missing !== '')(`line ${script.line}: ${script.lines[0]}${missing}`, async () => {
      story.begin()
      // Some examples wait more than they work: the next page runs meanwhile.
      PAGES[PAGES.findIndex(one => one.page === page) + 1]?.story.begin()
      const { code, printed } = await story.outcome(at)
      expect(code, printed).toBe(0)
      if (output === undefined || outputFits(output.lines, printed)) return
      if (REWRITE) others.push([example, printed])
      else expect(printed).toBe(output.lines.join('\n'))
    })
  }

  afterAll(() => {
    if (others.length > 0) writeFileSync(new URL(page, ROOT), withOutputs(text, others))
  })
})

function hasPython(): boolean {
  return spawnSync('python3', ['--version']).status === 0
}
