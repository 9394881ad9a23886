import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HELP, type HelpLine } from '../../src/tui/state/keys/keys.ts'
import { SCREENS } from '../../src/tui/state/state.ts'
import { allCommands } from '../unit/commands/support.ts'

const PAGE = new URL('../../docs/dashboard.md', import.meta.url)
const BETWEEN = /(<!-- made from the key table[^\n]*-->\n)([\s\S]*?)(<!-- end of the key table -->)/

const page = readFileSync(PAGE, 'utf8')

test('the page has every key of the key table', () => {
  const tables = `\n${HELP.map(({ title, lines }) => table(title, lines)).join('\n')}\n`
  if (process.env.LEASECTL_TEST_REWRITE_DOCS) writeFileSync(PAGE, page.replace(BETWEEN, `$1${tables}$3`))
  else expect(BETWEEN.exec(page)?.[2]).toBe(tables)
})

function table(title: string, lines: readonly HelpLine[]): string {
  const rows = lines.map(({ keys, does, screens }) => `| ${marked(keys)} | ${does} | ${placesOf(screens)} |`)
  return `| ${title.toLowerCase()} | | on |\n|---|---|---|\n${rows.join('\n')}\n`
}

const marked = (keys: string) =>
  keys
    .split(' ')
    .map(key => `\`${key.replace('|', '\\|')}\``)
    .join(' ')

/** Digits of the screens; empty for a key that works everywhere. */
function placesOf(screens: HelpLine['screens']): string {
  return screens === undefined || screens.length === SCREENS.length
    ? ''
    : screens
        .map(screen => SCREENS.indexOf(screen) + 1)
        .sort()
        .join(' ')
}

test('the page describes every screen', () => {
  for (const [at, screen] of SCREENS.entries()) expect(page).toContain(`| \`${at + 1}\` | ${screen} |`)
})

test('the page names the line that goes to each screen', () => {
  expect(SCREENS.filter(screen => !page.includes(`\`:${screen}\``))).toEqual([])
})

test('the page describes every flag of its own', () => {
  const top = allCommands().find(command => command.name() === 'top')
  // The filters are those of ls: the page names some and points to the others.
  const elsewhere = ['Global flags:', 'Selecting streams:']
  const own = top?.options.filter(({ helpGroupHeading = '' }) => !elsewhere.includes(helpGroupHeading)) ?? []
  expect(page).toContain('[the filters of `ls`](finding.md)')
  expect(own.length).toBeGreaterThan(5)
  expect(own.map(({ long }) => long).filter(long => !page.includes(`| \`${long}`))).toEqual([])
})
