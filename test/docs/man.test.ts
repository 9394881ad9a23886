import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { renderMan } from '../../build/man/render.mjs'
import { catalogueOf } from '../../src/commands/help/catalogue.ts'
import { TOPICS } from '../../src/commands/help/topics.ts'
import { declarations, outlinesOf, programOf } from '../../src/commands/program.ts'
import { fakeRuntime, newWorld } from '../unit/commands/support.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = `${ROOT}docs/man/leasectl.1`

const program = programOf(await declarations(), fakeRuntime(newWorld(), []).runtime, () => {})
const catalogue = catalogueOf(program, TOPICS)

test('docs/man/leasectl.1 is what `npm run man` makes of the commands', () => {
  expect(readFileSync(PAGE, 'utf8'), 'npm run man').toBe(renderMan(catalogue))
})

test('src/commands/outlines.json is what `npm run man` makes of the commands', () => {
  const file = readFileSync(`${ROOT}src/commands/outlines.json`, 'utf8')
  expect(file, 'npm run man').toBe(`${JSON.stringify(outlinesOf(program), null, 2)}\n`)
})

test('package.json installs the man page', () => {
  const { man } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { man: string }
  expect(existsSync(`${ROOT}${man}`)).toBe(true)
})

test('no text of a command can become a request of roff', () => {
  const [first, ...others] = catalogue.commands
  if (first === undefined) throw new Error('the catalogue is empty')
  const hostile = { ...first, description: '.so /etc/passwd', notes: "'nr x 1\n\\fB back \\ slash\n.de x" }
  const page = renderMan({ ...catalogue, commands: [hostile, ...others] })
  expect(page).toContain('\n\\&.so /etc/passwd\n')
  expect(page).toContain('\n\\(aqnr x 1 \\(rsfB back \\(rs slash .de x\n')
})

const hasMan = spawnSync('man', ['--version']).status === 0 && spawnSync('groff', ['--version']).status === 0

test.skipIf(!hasMan)('man renders the page without warnings (needs man and groff)', () => {
  const { stdout, stderr, status } = spawnSync('man', ['--warnings', '-l', PAGE], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8', MANROFFOPT: '', MAN_KEEP_FORMATTING: '' },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  for (const title of ['NAME', 'SYNOPSIS', 'COMMANDS', 'GLOBAL FLAGS', 'REFERENCE', 'EXIT STATUS', 'ENVIRONMENT'])
    expect(stdout).toContain(`\n${title}\n`)
  for (const { command } of catalogue.commands) expect(stdout).toContain(`\n   leasectl ${command}\n`)
  for (const { code } of catalogue.errorCodes) expect(stdout).toMatch(new RegExp(`^ {7}${code}( |$)`, 'm'))
})

test.skipIf(!hasMan)('man finds a mistake in a page (needs man and groff)', () => {
  const broken = `${readFileSync(PAGE, 'utf8')}\\[nosuchglyph]\n`
  const { stderr } = spawnSync('man', ['--warnings', '-l', '-'], {
    input: broken,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  expect(stderr).toContain('nosuchglyph')
})
