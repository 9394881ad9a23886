import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { given } from '../contract/harness.ts'
import { newUser, type User } from './program.ts'
import { begin } from './top-store.ts'
import { type PtyProgram, quit, Terminals } from './top-terminal.ts'

/** The built dashboard in a terminal over stores that are empty, become unreachable, or contain hostile text. */

let user: User
let terminals: Terminals

beforeAll(async () => {
  user = await newUser()
  terminals = new Terminals(user)
})
afterAll(async () => {
  await terminals.leave()
  user.leave()
})

const LIMIT = { timeout: 90_000 }
const top = (address: string, ...argv: string[]): PtyProgram =>
  terminals.top(['--store', address, '--interval', '20ms', ...argv], { columns: 100, rows: 24 })

async function withFile(name: string, run: (store: StreamStore, path: string) => Promise<void>): Promise<void> {
  const path = join(user.home, name)
  const store = await openStore(`sqlite:${path}`, {})
  try {
    await run(store, path)
  } finally {
    await store.close()
  }
}

test('an empty store is named as such; a new stream appears; an open stream that is removed is reported', LIMIT, () =>
  withFile('empty.db', async store => {
    await store.createContainer()
    const program = top(store.address)
    await program.until(/no streams in sqlite:/)
    await begin(store, 'first', [{ name: 'Search' }])
    await program.until(/^› {2}first +▶ inprocess/m)
    program.press('enter')
    await program.until(/▾ 00 Order/)
    await store.remove('first', {})
    const gone = await program.until(/removed|gone|not there/)
    expect(gone.join('\n')).toContain('00 Order')
    await begin(store, 'first', [{ name: 'Again' }])
    await program.until(/01\.00 Again/)
    await quit(program)
  }),
)

test('a stream that does not exist yet is waited for', LIMIT, () =>
  withFile('wait.db', async store => {
    await begin(store, 'orders/8', [])
    const program = top(store.address, 'orders/9')
    await program.until(/orders\/9[\s\S]*wait/)
    await begin(store, 'orders/9', [{ name: 'Search' }])
    await program.until(/▾ 00 Order[\s\S]*01\.00 Search/)
    await quit(program)
  }),
)

test('unreadable XML is reported, and can be read unchanged', LIMIT, () =>
  withFile('unreadable.db', async store => {
    await given(store, 'broken', '<Stream>\n  <Event id="00" name="x"\n</Stream>')
    const program = top(store.address)
    await program.until(/^› {2}broken/m)
    program.press('enter')
    await program.until(/▸ broken[\s\S]*line \d|bad-document/)
    program.press('y')
    await program.until(/bad-document[\s\S]*^ *2 {4}<Event id="00" name="x"$/m)
    await quit(program)
  }),
)

test('the file is damaged and restored: a line reports it, the screen is kept, the dashboard continues', LIMIT, () =>
  withFile('away.db', async (store, path) => {
    await begin(store, 'a', [])
    await store.close()
    const program = top(store.address)
    await program.until(/^› {2}a /m)
    copyFileSync(path, `${path}.saved`)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    writeFileSync(`${path}.spoilt`, 'this is no store '.repeat(1_000))
    renameSync(`${path}.spoilt`, path)
    const lost = await program.until(/stale .*retrying: /)
    expect(lost.join('\n')).toMatch(/^› {2}a /m)
    renameSync(`${path}.saved`, path)
    await program.until(rows => /● (live|slow)/.test(rows[0] ?? '') && !rows.join().includes('retrying'))
    expect((await program.screen()).join('\n')).toMatch(/^› {2}a /m)
    await quit(program)
  }),
)

const HOSTILE = [
  '\u009d52;c;cm0gLXJm\u009c',
  '\u009b2J\u009b10;10H',
  '\u202edesrever\u2066',
  '日本語の長い名前',
  '👩‍👩‍👧‍👦❤️🇩🇪👍🏽',
  'नमस्ते',
  'مرحبا بالعالم',
  'e\u0301\u0301\u0301\u0301',
]

test('foreign names and texts move nothing: the screen equals a fresh drawing', LIMIT, () =>
  withFile('hostile.db', async store => {
    for (const [at, text] of HOSTILE.entries()) {
      const name = `s${at}/${text}`.replaceAll(/\p{Control}/gu, '')
      await begin(store, name, [{ name: text.replaceAll(/\p{Control}/gu, ''), msg: text }], 'Order')
    }
    const program = top(store.address, '--interval', '1s')
    await program.until(/8 streams/)
    const same = async () => {
      const before = withoutAges(await program.screen())
      await program.scribble()
      program.press('ctrl-l')
      await program.until(rows => isDeepStrictEqual(withoutAges(rows), before), `drawn anew as\n${before.join('\n')}`)
    }
    await same()
    for (let at = 0; at < HOSTILE.length; at++) {
      program.press('enter')
      const seen = await program.until(/▾ 00 Order[\s\S]*─ tail ─[\s\S]*init/)
      expect(seen[0]).toMatch(/^ leasectl ▸ s\d\/.*READ-ONLY$/)
      program.press('j', 'd')
      await program.until(/01\.00[\s\S]*created/)
      program.press('j')
      program.press('d', 'esc')
      await program.until(/leasectl ▸ streams/)
      program.press('j')
    }
    await program.until(/^› {2}s7/m)
    await same()
    expect(program.written).not.toMatch(/\x1b\]52|\u009d|\u009b|\x1b\[2J.*desrever/)
    await quit(program)
  }),
)

/** Ages grow, and the number of polls depends on the machine. */
const withoutAges = (rows: readonly string[]): string[] =>
  rows.map(row => row.replaceAll(/ +\d+m?\d*s\b/g, ' ').replace(/[●◌] .*(?=READ-ONLY)/, ''))
