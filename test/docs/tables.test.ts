import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXIT_CODES } from '../../src/cli/exit-codes.ts'
import { OUTCOME_WORDS } from '../../src/commands/batch/options.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const PAGES = readdirSync(DOCS).filter(name => name.endsWith('.md'))

const pageText = (name: string) => readFileSync(new URL(name, DOCS), 'utf8')

/** The words in backticks in the first cells of a page's tables. */
function firstCells(name: string): ReadonlySet<string> {
  const rows = pageText(name).matchAll(/^\| ([^|]*) \|/gm)
  return new Set([...rows].flatMap(([, cell = '']) => cell.split(/[\s`,]+/)))
}

test('every finding of doctor is in the tables of remedies', () => {
  const told = firstCells('stores.md')
  expect(findingCodes().filter(code => !told.has(code))).toEqual([])
})

test('every exit code is in the table', () => {
  const told = firstCells('waiting.md')
  expect(EXIT_CODES.filter(({ code }) => !told.has(String(code)))).toEqual([])
})

test('every outcome of a batch is in the table', () => {
  const told = firstCells('changing.md')
  expect(OUTCOME_WORDS.filter(word => !told.has(word))).toEqual([])
})

test.each(PAGES)('every link of docs/%s has a target', name => {
  const links = [...pageText(name).matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  const own = links.filter(link => !link.startsWith('https://'))
  expect(own.filter(link => !leadsSomewhere(link, name))).toEqual([])
})

function leadsSomewhere(link: string, from: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file || from
  if (anchor === undefined) return existsSync(new URL(target, DOCS))
  return PAGES.includes(target) && anchors(target).includes(anchor)
}

/** As GitHub names them. */
function anchors(name: string): string[] {
  const titles = [...pageText(name).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)
  return titles.map(title =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** The codes in the sources of the findings; `ok` is not a finding. */
function findingCodes(): string[] {
  const folder = new URL('../../src/ops/doctor/', import.meta.url)
  const sources = readdirSync(folder).map(name => readFileSync(new URL(name, folder), 'utf8'))
  const codes = sources.flatMap(source =>
    [...source.matchAll(/severity: ('ok')?[^{}]*?code: ([^{}]*?),\s*subject/g)].flatMap(([, ok, code = '']) =>
      ok ? [] : [...code.matchAll(/'([a-z-]+)'/g)].map(([, word = '']) => word),
    ),
  )
  const faults = readFileSync(new URL('../../src/store/errors.ts', import.meta.url), 'utf8')
  // An error that prevents reading a stream is a finding with the code of the error.
  codes.push(...[...faults.matchAll(/'(bad-name|blob-[a-z]+)'/g)].map(([, code = '']) => code))
  expect(codes).toEqual(expect.arrayContaining(['history-lost', 'unreadable', 'bad-name', 'blob-archived']))
  return codes
}
