import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { leased } from '../contract/harness.ts'
import { NOBODY } from '../unit/store/sqlite/support.ts'
import { newUser, type User } from './program.ts'
import { act, begin, historyOf, OTHER } from './top-store.ts'
import { type PtyProgram, quit, Terminals } from './top-terminal.ts'

/** The built dashboard in a terminal: changes that it makes, and changes that it must not make. */

let user: User
let terminals: Terminals
let store: StreamStore

beforeAll(async () => {
  user = await newUser()
  terminals = new Terminals(user)
  store = await openStore(`sqlite:${join(user.home, 'a.db')}`, {})
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await begin(store, name, [{ name: 'Search' }, { name: 'Pay' }])
})
afterAll(async () => {
  await terminals.leave()
  await store.close()
  user.leave()
})

const LIMIT = { timeout: 90_000 }
const top = (...argv: string[]): PtyProgram =>
  terminals.top(['--store', store.address, '--interval', '20ms', ...argv], { columns: 110, rows: 30 })
const opsOf = async (name: string): Promise<string[]> => (await historyOf(store, name)).map(({ op }) => op)

/** From the reason field on: the text is typed, and yes is chosen and confirmed. */
async function agree(program: PtyProgram, reason: string): Promise<void> {
  await program.until(/\[ No \] {2}\[ Yes/)
  program.type(reason)
  await program.until(new RegExp(`›reason: ${reason}`))
  program.press('tab')
  await program.until(/›\[ No \]/)
  program.press('tab')
  await program.until(/›\[ Yes/)
  program.press('enter')
}

test('locked: no prompt opens; unlocked: a cancel with its reason, once, under one name', LIMIT, async () => {
  const program = top()
  await program.until(/READ-ONLY[\s\S]*\d streams/)
  program.press('c')
  const locked = await program.until(/changes are locked: ! unlocks them/)
  expect(locked.join('\n')).not.toMatch(/Yes, cancel/)

  program.press('!')
  await program.until(/WRITES 10m/)
  program.press('c')
  await program.until(/This cancels[\s\S]*in sqlite:[\s\S]*2 open events below|This cancels[\s\S]*open event/)
  await agree(program, 'customer withdrew')
  await program.until(/✓ a: canceled, with 2 more events: O shows it/)
  expect((await historyOf(store, 'a')).slice(1)).toMatchObject([{ op: 'cancel', why: 'customer withdrew' }])
  const by = (await historyOf(store, 'a')).at(-1)?.by
  expect(by).toMatch(/^\S+@\S+$/)
  // the outcome of one stream takes no keys
  program.press('O')
  await program.until(/✓ done +a +/)
  program.press('esc')
  await program.until(/^› {2}a +⊘ canceled/m)

  program.press('R')
  await program.until(/This retries a, canceled on request/)
  program.press('esc')
  program.press('down')
  await program.until(/^› {2}b +/m)
  program.press('X')
  await program.until(/This aborts b/)
  await agree(program, 'stuck')
  await program.until(/✓ b: aborted/)
  await program.until(/^› {2}b +✗ aborted/m)
  program.press('R')
  await program.until(/This retries b/)
  await agree(program, 'after all')
  await program.until(/✓ b: reopened/)
  expect((await historyOf(store, 'b')).slice(1)).toMatchObject([
    { op: 'abort', why: 'stuck', by },
    { op: 'retry', why: 'after all', by },
  ])
  await program.until(/^› {2}b +(▶|○)/m)
  program.press('!')
  await program.until(/READ-ONLY/)
  await quit(program)
})

test('esc, no and ctrl-c change nothing', LIMIT, async () => {
  const program = top('--write')
  await program.until(/WRITES 10m[\s\S]*\d streams/)
  program.press('G')
  await program.until(/^› {2}f /m)
  for (const [verb, no] of [
    ['c', 'esc'],
    ['X', 'enter'],
    ['c', 'ctrl-c'],
    ['X', 'esc'],
  ] as const) {
    program.press(verb)
    await program.until(/\[ No \] {2}\[ Yes/)
    program.type('some reason')
    await program.until(/›reason: some reason/)
    program.press('tab')
    await program.until(/›\[ No \]/)
    if (no !== 'enter') {
      program.press('tab')
      await program.until(/›\[ Yes/)
    }
    program.press(no)
    await program.until(rows => !rows.join().includes('[ No ]'))
  }
  expect(await opsOf('f')).toEqual(['init'])
  await quit(program)
})

test('three marked streams have one outcome each, also the one that another changed meanwhile', LIMIT, async () => {
  const program = top('--write')
  await program.until(/\d streams/)
  program.press('j')
  await program.until(/^› {2}b /m)
  program.press('   ')
  await program.until(/3 marked/)
  program.press('X')
  await program.until(/This aborts 3 streams[\s\S]*\[ Yes, abort \]/)
  await act(store, 'c', { op: 'set', event: '00', attributes: { tag: 'late' } })
  await agree(program, 'cleaning up')
  await program.until(/✓ done +b [\s\S]*✓ done +d |✓ done +d [\s\S]*✓ done +b /)
  const end = await program.until(/✗ changed +c .*/)
  expect(end.join('\n')).toMatch(/abort: 3 of 3/)
  expect((await historyOf(store, 'b')).at(-1)).toMatchObject({ op: 'abort', why: 'cleaning up' })
  expect((await historyOf(store, 'd')).at(-1)).toMatchObject({ op: 'abort', why: 'cleaning up' })
  expect(await opsOf('c')).toEqual(['init', 'set'])
  program.press('esc')
  await program.until(rows => !/marked/.test(rows[2] ?? ''))
  program.press('O')
  await program.until(/abort: 3 of 3/)
  program.press('esc')

  // a lease is broken after the name of the stream was typed
  await leased(store, 'c')
  await program.until(rows => !rows.join().includes('abort: 3 of 3'))
  program.press('3')
  await program.until(/leasectl ▸ leases[\s\S]*^› {2}c .*grace/m)
  program.press('L')
  await program.until(/This breaks the lease of c[\s\S]*type c, the name of the stream/)
  program.press('y', 'tab', 'right', 'enter')
  await program.until(/nothing was changed: type the name of the stream exactly/)
  expect((await store.read('c'))?.lease.state).toBe('leased')
  program.press('ctrl-u')
  program.type('c')
  await program.until(/›type c, the name of the stream: c/)
  program.press('tab')
  await program.until(/›\[ No \]/)
  program.press('tab')
  await program.until(/›\[ Yes, break \]/)
  program.press('enter')
  await program.until(/✓ c: lease broken/)
  expect((await store.read('c'))?.lease.state).not.toBe('leased')
  await quit(program)
})

test('a change of one event of a stream changes only that event', LIMIT, async () => {
  const program = top('e', '--write')
  await program.until(/├─ {2}01\.00 Search/)
  program.press('j')
  await program.until(/^›├─ {2}01\.00/m)
  program.press('c')
  await program.until(/This cancels .*01\.00/)
  await agree(program, 'not this one')
  await program.until(/✓ 01\.00 of e: canceled/)
  await program.until(/01\.00 Search +⊘ canceled/)
  expect((await historyOf(store, 'e')).slice(1)).toMatchObject([{ op: 'cancel', on: '01.00', why: 'not this one' }])
  await quit(program)
})

test('a stream that another changed after the preview is not changed', LIMIT, async () => {
  await begin(store, 'g', [{ name: 'Search' }])
  const program = top('g', '--write')
  await program.until(/00 Order/)
  program.press('c')
  await program.until(/\[ Yes, cancel \]/)
  await act(store, 'g', { op: 'start', event: '01.00', owner: OTHER, claimMs: 600_000 })
  await agree(program, 'too late')
  await program.until(/✗ g: \S+: /)
  expect(await opsOf('g')).toEqual(['init', 'start'])
  await quit(program)
})

test('a protected store prompts for its name, and accepts no other', LIMIT, async () => {
  const address = `sqlite:${join(user.home, 'protected.db')}`
  expect(await user.run(['init', 's', '--store', address])).toMatchObject({ code: 0 })
  expect(await user.run(['context', 'add', 'prod', '--store', address, '--protected'])).toMatchObject({ code: 0 })
  const program = terminals.top(['-c', 'prod', '--interval', '20ms'], { columns: 110, rows: 30 })
  await program.until(/PROTECTED {2}READ-ONLY/)
  program.press('!')
  await program.until(/Type prod to unlock changes/)
  program.type('prot')
  await program.until(/›name: prot/)
  program.press('enter')
  await program.until(/✗ wrong name/)
  program.press('backspace')
  program.type('d')
  await program.until(/›name: prod/)
  expect((await program.screen()).join('\n')).toContain('READ-ONLY')
  program.press('enter')
  await program.until(/PROTECTED {2}WRITES 10m/)
  await quit(program)
})

test('the command line reads at once, writes only if unlocked, and refuses top', LIMIT, async () => {
  const program = top()
  await program.until(/\d streams/)
  const answer = async (line: string, wanted: RegExp) => {
    program.press(':')
    await program.until(rows => /^:/.test(rows.at(-1) ?? ''))
    program.type(line)
    await program.until(rows => (rows.at(-1) ?? '').startsWith(`:${line}`))
    program.press('enter')
    await program.until(rows => wanted.test(rows.join('\n')) && rows.join().includes('esc closes'))
    program.press('esc')
    await program.until(rows => !rows.join().includes('esc closes'))
  }
  await answer('ls --match e', /:ls --match e[\s\S]*NAME +STATUS[\s\S]*e +▶ inprocess/)
  await answer('top', /top does not run inside the dashboard: it is already running[\s\S]*exit code 2/)
  await answer('cancel f -m no', /changes are locked[\s\S]*exit code 2/)
  await answer('lsx', /error: [\s\S]*exit code 2/)
  expect(await opsOf('f')).toEqual(['init'])
  program.press('!')
  await program.until(/WRITES/)
  await answer("event set f 00 --tag 'two words'", /✓ f/)
  expect(await opsOf('f')).toEqual(['init', 'set'])
  program.press(':')
  await program.until(rows => /^:/.test(rows.at(-1) ?? ''))
  program.press('up', 'up')
  await program.until(rows => (rows.at(-1) ?? '').startsWith(':lsx'))
  program.press('esc')
  await program.until(rows => !/^:/.test(rows.at(-1) ?? ''))
  await quit(program)
})

test('with --read-only no key unlocks', LIMIT, async () => {
  const program = top('--read-only')
  await program.until(/\d streams/)
  program.press('!', 'c')
  await program.until(/read-only: changes are disabled/)
  expect((await program.screen()).join('\n')).not.toMatch(/WRITES|\[ No \]/)
  await quit(program)
})

test.skipIf(process.getuid?.() !== 0)(
  'without write permission the refusal is shown, and nothing changes',
  LIMIT,
  async () => {
    const path = join(user.home, 'read-only.db')
    const own = await openStore(`sqlite:${path}`, {})
    await begin(own, 's', [{ name: 'Search' }])
    await own.close()
    for (const [name, mode] of [
      [user.home, 0o755],
      [path, 0o444],
    ] as const)
      chmodSync(name, mode)
    const before = readFileSync(path)
    const command = `leasectl top --write --interval 20ms --store sqlite:${path}`
    const program = terminals.shell(`exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups ${command}`, {
      // the list of contexts of other tests must not be read
      env: { HOME: join(user.home, 'nobody') },
    })
    await program.until(/^› {2}s /m)
    program.press('c')
    await agree(program, 'why not')
    await program.until(/✗ s: .*read-only/)
    await program.until(/^› {2}s +(▶|○)/m)
    await quit(program)
    expect(readFileSync(path).equals(before)).toBe(true)
  },
)
