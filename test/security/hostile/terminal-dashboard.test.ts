import { expect, test } from 'vitest'
import { newUser } from '../../e2e/program.ts'
import { quit, Terminals } from '../../e2e/top-terminal.ts'
import { trustRow } from '../../guarantees/record.ts'
import { MARK } from './hostile-texts.ts'
import { hostileSqlite, PRINTABLE_NAME } from './hostile-user.ts'
import { drivenBy } from './on-pty.ts'

const row = trustRow('terminal')

/** Keys of the lists, and their visible effects; `C` would copy a text, which is intended. */
const LISTS: readonly (readonly [key: string, shown: RegExp])[] = [
  ['3', /▸ leases/],
  ['d', /▸ leases/],
  ['4', /▸ watchdog/],
  ['j', /▸ watchdog/],
  ['5', /▸ activity/],
  ['1', /▸ streams/],
  ['s', /▸ streams/],
  ['w', /▸ streams/],
  ['T', /▸ streams/],
]
/** Keys in a stream; those that would change it are refused or canceled. */
const STREAM = [
  'j',
  'j',
  'd',
  'j',
  'd',
  'w',
  't',
  't',
  'y',
  'y',
  'c',
  'esc',
  'X',
  'esc',
  'R',
  'esc',
  'o',
  'esc',
  'T',
  'G',
]

test('the dashboard shows hostile texts on each screen, and none controls the terminal', {
  timeout: 120_000,
}, async () => {
  const user = await newUser()
  const terminals = new Terminals(user)
  try {
    const address = await hostileSqlite(user.home)
    const program = terminals.top(['--store', address, '--interval', '20ms'], { columns: 160, rows: 40 })
    await program.until(new RegExp(MARK))
    for (const [key, shown] of LISTS) {
      program.press(key)
      await program.until(shown)
    }
    await quit(program)
    const inside = terminals.top(['s', '--store', address, '--interval', '20ms'], { columns: 160, rows: 40 })
    await inside.until(new RegExp(MARK))
    for (const key of STREAM) {
      inside.press(key)
      await inside.screen()
    }
    await quit(inside)
    const outputs = [program.written, inside.written]
    const driven = await Promise.all(outputs.map(written => drivenBy(written, 160)))
    expect(driven).toEqual([[], []])
    expect(outputs.every(written => written.includes(MARK))).toBe(true)
    expect(program.written).toContain(PRINTABLE_NAME)
    row.injected('screens of the dashboard', LISTS.length + STREAM.length)
    row.figure('control bytes from data', driven.flat().length, '0')
  } finally {
    await terminals.leave()
    user.leave()
  }
})
