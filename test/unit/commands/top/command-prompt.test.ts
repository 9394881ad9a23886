import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import { given, namesOf } from '../batch/support.ts'
import { storeWith } from '../store-with.ts'
import { bodyOf, cli, newWorld, type Setting, statuses, type World } from '../support.ts'
import { never, portsOver } from './support.ts'

async function worldOf(...names: readonly string[]): Promise<World> {
  const world = newWorld()
  await given(world, names, ['A'])
  return world
}

async function typed(world: World, line: string, mayWrite = false, setting: Setting = {}) {
  const { exit, lines } = await (await portsOver(world, setting)).runLine(line, mayWrite, never)
  return { exit, lines, text: lines.join('\n') }
}

describe('a line is a command line of the program', () => {
  test('with its exit code; the name of the program may come first', async () => {
    const world = await worldOf('orders/1')
    for (const line of ['ls -o name', 'leasectl ls -o name', '  npx leasectl   ls -o name  ', '-o name ls']) {
      expect(await typed(world, line)).toMatchObject({ exit: 0, lines: ['orders/1'] })
    }
    expect(await typed(world, 'show nix')).toMatchObject({ exit: 3, text: expect.stringContaining('no stream nix') })
    expect(await typed(world, 'lss')).toMatchObject({ exit: 2, text: expect.stringContaining('Did you mean ls?') })
    expect((await typed(world, 'help exit-codes')).text).toContain('batch ended')
    expect((await typed(world, '')).text).toContain('Start with:')
  })

  test.each([
    ["cancel s -m 'it is late' ", 'it is late'],
    ['cancel s -m "it is \\"late\\""', 'it is "late"'],
    ['cancel s -m it\\ is\\ late', 'it is late'],
    ['cancel s -m \'a\'"b"c', 'abc'],
    ['cancel s -m "$HOME *"', '$HOME *'],
    ["cancel s -m 'a\\b'", 'a\\b'],
  ])('%s: words as a shell splits them, nothing is expanded', async (line, reason) => {
    const world = await worldOf('s')
    expect((await typed(world, line, true)).exit).toBe(0)
    const { stdout } = await cli(world, ['tail', 's', '-n', '1', '-o', 'ndjson'])
    expect(JSON.parse(stdout)).toMatchObject({ why: reason })
  })

  test('an empty word in quotes is a word', async () => {
    expect((await typed(await worldOf('s'), 'show ""')).text).toContain('the name of the stream is empty')
  })

  test('an unclosed quote is exit 2', async () => {
    expect(await typed(await worldOf('s'), "cancel s -m 'late", true)).toEqual({
      exit: 2,
      lines: ["error: the quote ' is not closed"],
      text: "error: the quote ' is not closed",
    })
  })
})

describe('commands that do not fit the dashboard', () => {
  test.each([
    'top',
    'watchdog',
    'watchdog --once --dry-run',
    'demo',
    'completion bash',
    '-o text top',
    '__complete bash x',
    '__quick-check x.db',
  ])('%s is refused with a sentence', async line => {
    const ran = await typed(await worldOf('s'), line, true)
    expect(ran.exit).toBe(2)
    expect(ran.text).toMatch(/does not run inside the dashboard: /)
  })

  test('have their help shown', async () => {
    expect(await typed(await worldOf('s'), 'top --help')).toMatchObject({ exit: 0 })
  })

  test('do not include watchdog status', async () => {
    expect(await typed(await worldOf('s'), 'watchdog status')).toMatchObject({ exit: 0 })
  })

  test.each(['tail -f', 'tail -qf s', 'tail s --follow'])('include %s, which never ends and is refused', async line => {
    const ran = await typed(await worldOf('s'), line)
    expect(ran).toMatchObject({ exit: 2, text: expect.stringContaining('never ends') })
  })

  test.each(['ls -w', 'show s -w', 'watchdog status -w'])('include %s, which draws in place: refused', async line => {
    expect(await typed(await worldOf('s'), line, false, { columns: 80, terminal: true })).toMatchObject({ exit: 2 })
  })
})

describe('locked', () => {
  test.each(['cancel s', 'rm s --yes', 'init t', 'event start s 01.00', 'lease acquire s', 'cancel s --dry-run'])(
    '%s is refused before it does anything',
    async line => {
      const world = await worldOf('s')
      const before = await bodyOf(world, 's')
      const calls: string[] = []
      const store = storeWith(world.store, {
        read: async name => {
          calls.push(name)
          return world.store.read(name)
        },
      })
      const ran = await typed(world, line, false, { store })
      expect(ran).toMatchObject({ exit: 2, text: expect.stringContaining('changes are locked') })
      expect(ran.text).toContain('! to unlock them')
      expect(calls).toEqual([])
      expect(await bodyOf(world, 's')).toBe(before)
    },
  )

  test('the previous context does not become the current one again', async () => {
    const world = await worldOf('s')
    expect((await typed(world, 'context -')).text).toContain('changes are locked')
    expect((await typed(world, 'context -', true)).text).toContain('no previous context')
  })

  test('doctor writes its probe only when unlocked', async () => {
    expect((await typed(await worldOf('s'), 'doctor')).text).toContain('changes are locked')
    expect((await typed(await worldOf('s'), 'doctor --read-only')).text).not.toContain('changes are locked')
  })
})

test('if changes are never possible the message does not mention !', async () => {
  const ports = await portsOver(await worldOf('s'), {}, undefined, { mayUnlock: false })
  const { exit, lines } = await ports.runLine('cancel s', false, never)
  expect(exit).toBe(2)
  expect(lines.join('\n')).toContain('read-only')
  expect(lines.join('\n')).not.toContain('!')
})

test('unlocked, a change is made without a prompt', async () => {
  const world = await worldOf('s')
  expect((await typed(world, 'cancel s', true)).text).toContain('✓ s  canceled')
  expect(await statuses(world, 's')).toMatchObject({ '00': 'canceled' })
  expect(await typed(world, 'rm s', true, { terminal: true, columns: 80, answer: 'y' })).toMatchObject({
    exit: 2,
    text: expect.stringContaining('there is no terminal to ask'),
  })
  expect(await world.store.read('s')).toBeDefined()
})

test('lines are as wide as the screen, without colors, whatever the environment says', async () => {
  const world = await worldOf('a-very-long-name/'.repeat(8).slice(0, -1))
  const ran = await typed(world, 'ls --color always', false, { columns: 70, terminal: true, env: { FORCE_COLOR: '1' } })
  expect(ran.text).not.toContain('\u001b')
  expect(ran.text).toContain('…')
  for (const line of ran.lines) expect(line.length).toBeLessThanOrEqual(70)
})

test('of very many lines the first 2 000 are kept, and the command is stopped', async () => {
  const world = await worldOf('s')
  const names = namesOf(3_000)
  let pages = 0
  const rows = await Array.fromAsync(world.store.list({}))
  const [row] = rows.flat()
  if (row === undefined) throw new Error('no row')
  const store = storeWith(world.store, {
    async *list({ signal }) {
      for (;;) {
        signal?.throwIfAborted()
        pages++
        yield names.map(name => ({ ...row, name: `${name}/${pages}` }))
      }
    },
  })
  const ran = await typed(world, 'ls -o name', false, { store })
  expect(ran.exit).toBe(0)
  expect(ran.lines).toHaveLength(2_001)
  expect(ran.lines.at(-1)).toBe('… more than 2000 lines; the rest is left out')
  expect(pages).toBeLessThan(5)
})

test('a change runs to its end, however much it prints', async () => {
  const world = newWorld()
  await given(world, namesOf(2_100))
  const ran = await typed(world, `cancel --all --yes --expect 2100`, true)
  expect(ran.exit).toBe(0)
  expect(ran.lines).toHaveLength(2_001)
  expect(await statuses(world, 's2099')).toMatchObject({ '00': 'canceled' })
}, 20_000)

test('the signal stops the command', async () => {
  const world = await worldOf('s')
  const stop = new AbortController()
  const running = (await portsOver(world)).runLine('wait s', false, stop.signal)
  stop.abort()
  expect((await running).exit).not.toBe(0)
})

test('a line may name another store; that of the dashboard is not closed', async () => {
  const world = await worldOf('here')
  const other = openMemoryStore()
  await given({ store: other, nowMs: 0 }, ['there'])
  let closed = 0
  const store = storeWith(world.store, {
    close: async () => {
      closed++
    },
  })
  const ports = await portsOver(world, { store, others: { 'azurite:x': other } })
  const names = async (line: string) => (await ports.runLine(line, false, never)).lines
  expect(await names('ls -o name')).toEqual(['here'])
  expect(await names('ls -o name --store azurite:x')).toEqual(['there'])
  expect(await names('ls -o name --store azurite:x')).toEqual(['there'])
  expect(await names('ls -o name')).toEqual(['here'])
  expect(closed).toBe(0)
})

test('foreign texts and raw XML are made safe', async () => {
  const world = await worldOf('s')
  const stored = await world.store.read('s')
  const body = Buffer.from('<x>\u001b[2J\u0007\u202e</x>\n\tb')
  const store = storeWith(world.store, { read: async () => stored && { ...stored, body } })
  const { text } = await typed(world, 'show s -o xml', false, { store })
  expect(text).toContain('<x>')
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u202e]/)
})

describe('completion', () => {
  test('has commands, flags, values and streams, as they are typed', async () => {
    const ports = await portsOver(newWorld())
    const words = (line: string) => ports.completeLine(line, never)
    expect(await words('canc')).toEqual(['cancel'])
    expect(await words('ls --over')).toEqual(['--overdue'])
    expect(await words('ls --status init,comp')).toEqual(['init,completed'])
    expect(await words('ls --match ')).toEqual([])
    expect(await words("show 'x")).toEqual([])
  })

  test('has the streams of the store of the dashboard, quoted for the line', async () => {
    const world = await worldOf('orders/a b', 'other')
    const ports = await portsOver(world)
    expect(await ports.completeLine('show or', never)).toEqual(['orders/a\\ b'])
    expect(await ports.runLine('show orders/a\\ b', false, never)).toMatchObject({ exit: 0 })
  })

  test('is not a command that users can run', async () => {
    const ports = await portsOver(newWorld())
    expect(await ports.runLine('__complete bash -- x', false, never)).toMatchObject({ exit: 2 })
  })
})
