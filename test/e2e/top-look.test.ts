import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { newUser, type User } from './program.ts'
import { act, begin, historyOf, OTHER } from './top-store.ts'
import { type PtyProgram, quit, Terminals } from './top-terminal.ts'

/** The built dashboard in a terminal, over a store that other processes change: its views. */

let user: User
let terminals: Terminals
let store: StreamStore

beforeAll(async () => {
  user = await newUser()
  terminals = new Terminals(user)
  store = await openStore(`sqlite:${join(user.home, 'a.db')}`, {})
  for (const name of ['orders/1', 'orders/2', 'orders/3', 'orders/4', 'imports/eu'])
    await begin(store, name, [{ name: 'Search' }, { name: 'Pay' }])
  await act(store, 'orders/3', { op: 'cancel' }, 'not wanted')
  const next = [{ name: 'Hotel' }, { name: 'Train' }]
  await act(store, 'orders/1', { op: 'start', event: '01.00', owner: OTHER, claimMs: 600_000 })
  await act(store, 'orders/1', { op: 'advance', event: '01.00', forks: next, owner: OTHER })
})
afterAll(async () => {
  await terminals.leave()
  await store.close()
  user.leave()
})

const LIMIT = { timeout: 90_000 }
const top = (...argv: string[]): PtyProgram =>
  terminals.top(['--store', store.address, '--interval', '20ms', ...argv], { columns: 100, rows: 24 })
const change = (name: string, tag: string) => act(store, name, { op: 'set', event: '00', attributes: { tag } })
const cursorOn = (name: string): RegExp => new RegExp(`^›[ •]+.*${name}`, 'm')

test('the list starts, moves, filters, sorts, marks, and shows the changes of others', LIMIT, async () => {
  const program = top()
  const first = await program.until(/5 streams[\s\S]*q quit/)
  expect(first[0]).toMatch(/^ leasectl ▸ streams .*● (live|slow) \d+ms {2}READ-ONLY$/)
  expect(first[1]).toContain(store.address)
  expect(first.join('\n')).toMatch(/^› {2}imports\/eu +▶ inprocess +[█▌░]+ +0\/\d+ /m)
  expect(first.join('\n')).toMatch(/^ {3}orders\/3 +⊘ canceled/m)

  // as one chunk, as from fast typing and slow lines
  program.press('jjj')
  await program.until(cursorOn('orders/3'))
  program.press('down', 'up', 'k')
  await program.until(cursorOn('orders/2'))
  program.press('G')
  await program.until(cursorOn('orders/4'))
  program.press('g')
  await program.until(cursorOn('imports/eu'))

  program.press('/')
  program.type('orders')
  const filtered = await program.until(
    rows => /^\/orders/.test(rows[23] ?? '') && /filter orders: 4 of 5/.test(rows[2] ?? ''),
  )
  expect(filtered.join('\n')).toContain('orders/1')
  program.press('enter')
  await program.until(rows => !/^\//.test(rows[23] ?? ''))
  program.press('esc')
  await program.until(rows => rows[1]?.includes(' 5 streams') === true && rows.join().includes('imports/eu'))
  program.press('/')
  program.type('nowhere')
  await program.until(/no stream of 5 matches "nowhere"/)
  program.press('esc')
  await program.until(/imports\/eu/)

  program.press('S')
  await program.until(rows => rows.findIndex(row => /orders\/4/.test(row)) < rows.findIndex(row => /imports/.test(row)))
  program.press('S', 's')
  await program.until(/sorted by status/)
  program.press('S', 's', 's', 's', 's', 's')

  await change('orders/2', 'x')
  await begin(store, 'orders/5', [])
  await program.until(/6 streams[\s\S]*orders\/5/)
  expect(await store.remove('orders/5', {})).toEqual({ kind: 'removed' })
  await program.until(rows => / 5 streams/.test(rows[1] ?? ''))
  await act(store, 'orders/4', { op: 'abort' })
  await program.until(/orders\/4 +✗ aborted/)

  program.press('T')
  await program.until(rows => / local /.test(rows[0] ?? ''))
  program.press('T')
  await program.until(rows => / UTC /.test(rows[0] ?? ''))
  program.press('T', '?')
  await program.until(/keys of leasectl/)
  program.press('esc')
  await program.until(rows => !rows.join().includes('keys of leasectl') && !/UTC/.test(rows[0] ?? ''))
  await quit(program)
})

test('marks follow the names; all matches of the filter are marked and counted', LIMIT, async () => {
  const program = top('--write')
  await program.until(/5 streams/)
  program.press('space', 'space')
  await program.until(/2 marked/)
  await program.until(/^ • imports\/eu[\s\S]*^ • orders\/1/m)
  program.press('S')
  await program.until(/^ • orders\/1[\s\S]*^ • imports\/eu/m)
  program.press('u')
  await program.until(rows => !/marked/.test(rows[2] ?? ''))
  program.press('/')
  program.type('orders')
  await program.until(/^\/orders/m)
  program.press('enter')
  await program.until(rows => !/^\//.test(rows[23] ?? ''))
  program.press('*')
  await program.until(rows => /4 marked/.test(rows[2] ?? ''))
  await quit(program)
})

test('one stream has tree, folds, detail, tail, timeline, XML, and back; all five screens work', LIMIT, async () => {
  const program = top()
  await program.until(/5 streams/)
  program.press('j', 'enter')
  await program.until(
    /▸ orders\/1 [\s\S]*▾ 00 Order [\s\S]*├─▾ 01\.00 Search [\s\S]*01\.00\.00 Hotel|▸ orders\/1 [\s\S]*01\.\S+ Hotel/,
  )
  await program.until(/─ tail ─/)
  await program.until(/ start .*worker-7/)
  program.press('h')
  await program.until(rows => /^›▸ 00 Order/m.test(rows.join('\n')) && !rows.join().includes(' Pay '))
  program.press('l')
  await program.until(/^›▾ 00 Order[\s\S]* Pay /m)
  program.press('j')
  await program.until(/^─ 01\.00 Search ─/m)
  program.press('h')
  await program.until(rows => /^›├─▸ 01\.00/m.test(rows.join('\n')) && !rows.join().includes('Hotel'))
  program.press('enter')
  await program.until(/^›├─▾ 01\.00[\s\S]*Hotel/m)

  await act(store, 'orders/1', { op: 'complete', event: await idOf('Hotel'), owner: OTHER, msg: '12 results' }).catch(
    async () => {
      await act(store, 'orders/1', { op: 'start', event: await idOf('Hotel'), owner: OTHER, claimMs: 600_000 })
      await act(store, 'orders/1', { op: 'complete', event: await idOf('Hotel'), owner: OTHER, msg: '12 results' })
    },
  )
  await program.until(/Hotel +✓ completed/)
  await program.until(/─ tail ─[\s\S]*✓ completed/)

  program.press('d')
  await program.until(/─ 01\.00 Search ─[\s\S]*created/)
  // A running event grows, so that its bar is visible sooner or later, however long the previous steps have taken.
  await act(store, 'orders/1', { op: 'start', event: await idOf('Train'), owner: OTHER, claimMs: 600_000 })
  program.press('d', 't')
  await program.until(/▸ orders\/1 ▸ timeline[\s\S]*now/)
  await program.until(/Train .*█.*▶ inprocess/)
  program.press('y')
  await program.until(/▸ orders\/1 ▸ xml[\s\S]*^ *1 {2}<\?xml/m)
  await program.until(/<lc:journal>/)
  program.press('esc')
  await program.until(rows => /▸ orders\/1 +●/.test(rows[0] ?? ''))

  program.press('3')
  await program.until(/leasectl ▸ leases/)
  program.press('4')
  await program.until(/leasectl ▸ watchdog/)
  program.press('D')
  await program.until(/dry run[\s\S]*nothing|would|0 decisions/i)
  program.press('5')
  await program.until(/leasectl ▸ activity[\s\S]*orders\/1 +worker-7 +complete/)
  program.press('2')
  await program.until(/▾ 00 Order/)
  program.press('1')
  await program.until(cursorOn('orders/1'))
  await quit(program)
})

async function idOf(name: string): Promise<string> {
  const seen = await historyOf(store, 'orders/1')
  const added = seen.filter(({ op }) => op === 'advance').flatMap(({ changes }) => changes.filter(c => c.how === 'add'))
  return added[name === 'Hotel' ? 0 : 1]?.event ?? ''
}

test('a frozen screen is kept while others change; p continues', LIMIT, async () => {
  const own = await openStore(`sqlite:${join(user.home, 'frozen.db')}`, {})
  onTestFinished(() => own.close())
  for (const name of ['orders/1', 'orders/2']) await begin(own, name, [])
  const program = terminals.top(['--store', own.address, '--interval', '20ms'])
  await program.until(/2 streams[\s\S]*q quit/)
  program.press('p')
  await program.until(/❄ frozen, 0 pending/)
  await begin(own, 'orders/6', [])
  const frozen = await program.until(/❄ frozen.*, [1-9]\d* pending/)
  expect(frozen.join('\n')).not.toContain('orders/6')
  await own.remove('orders/6', {})
  await begin(own, 'orders/7', [])
  program.press('j', 'p')
  const live = await program.until(rows => /● (live|slow)/.test(rows[0] ?? '') && rows.join().includes('orders/7'))
  expect(live.join('\n')).not.toContain('orders/6')
  expect(live.join('\n')).toMatch(cursorOn('orders/2'))
  await quit(program)
})

test('at any size, while the data change, the screen equals a fresh drawing', LIMIT, async () => {
  const program = top()
  await program.until(/5 streams/)
  let changes = 0
  const moving = setInterval(() => void change('orders/2', `t${changes++}`).catch(() => {}), 10)
  onTestFinished(() => clearInterval(moving))
  await program.resize({ columns: 20, rows: 5 })
  const tiny = await program.until(rows => rows.length === 5 && /^›/m.test(rows.join('\n')))
  expect(tiny.join('\n')).toMatch(/imports|orders/)
  program.press('j')
  await program.until(rows => /^›.*ord/m.test(rows.join('\n')))
  await program.resize({ columns: 200, rows: 60 })
  await program.until(rows => (rows[0]?.length ?? 0) > 190 && /orders\/4/.test(rows.join()))
  program.press('enter')
  await program.until(/▾ 00 Order/)
  await program.resize({ columns: 100, rows: 24 })
  await program.until(rows => /▸ orders\/1 .*READ-ONLY$/.test(rows[0] ?? ''))
  clearInterval(moving)
  expect(changes).toBeGreaterThan(0)
  program.press('esc')
  await program.until(/5 streams/)
  program.press('3')
  await program.until(/leasectl ▸ leases/)
  const before = withoutRates(await program.screen())
  await program.scribble()
  program.press('ctrl-l')
  await program.until(rows => isDeepStrictEqual(withoutRates(rows), before), `drawn anew as\n${before.join('\n')}`)
  await quit(program)
})

/** A screen without the latency, and without the rate, which goes on falling once nothing changes any more. */
const withoutRates = (rows: readonly string[]): readonly string[] =>
  rows.slice(1).map(row => row.replace(/[▁-█]+ [\d.]+\/s/, ''))

test('a paste is not a command', LIMIT, async () => {
  const program = top('--write')
  await program.until(/5 streams/)
  program.paste('c\rq\x03X')
  program.press('j')
  await program.until(cursorOn('orders/1'))
  expect((await program.screen()).join('\n')).not.toMatch(/Cancel|Abort/)
  program.press('/')
  program.paste('orders/2')
  await program.until(rows => /^\/orders\/2/.test(rows[23] ?? '') && /filter orders\/2: 1 of 5/.test(rows[2] ?? ''))
  program.press('esc')
  await program.until(/ 5 streams/)
  await quit(program)
})

test('C copies the equivalent command line to the clipboard of the terminal', LIMIT, async () => {
  const program = top()
  await program.until(/5 streams/)
  program.press('j', 'enter')
  await program.until(/▾ 00 Order/)
  program.press('C')
  await program.until(/leasectl show/)
  const copied = /\x1b\]52;c;([\w+/=]+)\x07/.exec(program.written)?.[1] ?? ''
  const line = Buffer.from(copied, 'base64').toString()
  expect(line).toMatch(/^leasectl show .*orders\/1/)
  expect((await user.shell(line).ended).stdout).toMatch(/Hotel/)
  await quit(program)
})
