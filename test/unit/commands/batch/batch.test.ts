import { describe, expect, test } from 'vitest'
import { copyInto } from '../../../../src/ops/copy.ts'
import { transact } from '../../../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { HOLDER, run, writeForeign } from '../../ops/support.ts'
import { bodyOf, cli, json, newWorld, statuses, type World } from '../support.ts'
import { before, given, namesOf, runFileOf, unreadable } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'

async function worldOf(...names: string[]): Promise<World> {
  const world = newWorld()
  await given(world, names, ['A', 'B'])
  return world
}

const items = (text: string) => json(text).items as Record<string, unknown>[]
const lines = (text: string) => text.trimEnd().split('\n').map(json)
const tag = { op: 'set', event: '00', attributes: { tag: 'new' } } as const

describe('the selection', () => {
  test('of a filter contains the matching streams and no others', async () => {
    const world = await worldOf('a/1', 'a/2', 'b/1')
    const ran = await cli(world, ['cancel', '--match', 'a/*', '--yes', '-o', 'json'])
    expect(ran.exit).toBe(0)
    expect(items(ran.stdout).map(({ stream }) => stream)).toEqual(['a/1', 'a/2'])
    expect((await statuses(world, 'b/1'))['00']).toBe('inprocess')
  })

  test.each(['text', 'json', 'ndjson'])('that is empty gives exit 0, no items as %s and a sentence', async format => {
    const world = await worldOf('a')
    const ran = await cli(world, ['cancel', '--match', 'nix*', '-o', format])
    expect(ran).toMatchObject({ exit: 0, stderr: 'nothing selected; nothing was changed\n' })
    if (format === 'json') expect(json(ran.stdout)).toMatchObject({ items: [], total: 0, runFile: null })
    else expect(ran.stdout).toBe(format === 'text' ? 'STREAM  OUTCOME    VERSION  WHAT\n' : '')
  })

  test('of a list must exist in whole, or nothing is changed', async () => {
    const world = await worldOf('a', 'b')
    const setting = { files: { list: 'a\nnix\nb\n' } }
    const ran = await cli(world, ['cancel', '--streams', 'list', '--yes'], setting)
    expect(ran).toMatchObject({ exit: 3, stdout: '' })
    expect(ran.stderr).toContain('there is no stream nix')
    expect((await statuses(world, 'a'))['00']).toBe('inprocess')
    const skipping = await cli(world, ['cancel', '--streams', 'list', '--yes', '--skip-missing'], setting)
    expect(skipping.exit).toBe(0)
    expect(skipping.stderr).toContain('skipped: there is no stream nix')
  })

  test.each(['cancel', 'rm'])('from an outcome of one event does not mean the whole stream to %s', async verb => {
    const world = await worldOf('a')
    const setting = { files: { list: '{"stream":"a","event":"01.00","outcome":"busy"}\n' } }
    const ran = await cli(world, [verb, '--streams', 'list', '--yes'], setting)
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('list, line 1 names the event 01.00')
    expect((await cli(world, ['cancel', '--streams', 'list', '-e', '01.00', '--yes'], setting)).exit).toBe(0)
    expect((await statuses(world, 'a'))['00']).toBe('inprocess')
  })

  test('from standard input needs --yes: no prompt is possible', async () => {
    const world = await worldOf('a')
    expect((await cli(world, ['cancel', '--streams', '-'], { stdin: 'a' })).exit).toBe(2)
    expect((await cli(world, ['cancel', '--streams', '-', '--yes'], { stdin: 'a' })).exit).toBe(0)
  })

  test('for cancel and abort omits and counts final streams; named ones are reported', async () => {
    const world = await worldOf('a', 'b', 'c')
    await cli(world, ['cancel', 'a'])
    await run(world.store, 'b', { op: 'complete', event: '01.00' })
    await run(world.store, 'b', { op: 'complete', event: '02.00' })
    const ran = await cli(world, ['abort', '--all', '--yes', '-o', 'json'])
    expect(ran.exit).toBe(0)
    expect(json(ran.stdout)).toMatchObject({ items: [{ stream: 'c' }], leftOut: 2 })
    const again = await cli(world, ['abort', '--all', '--yes'])
    expect(again).toMatchObject({ exit: 0, stderr: '3 already final, left out\n' })
    const named = await cli(world, ['cancel', 'a', 'b', '-o', 'json'])
    expect(items(named.stdout)).toMatchObject([{ outcome: 'already' }, { outcome: 'refused' }])
  })

  test('does not omit a final stream that has open events below its root', async () => {
    for (const events of [[], ['-e', '00']]) {
      const world = await worldOf('a')
      await writeForeign(world.store, 'a', 'status="inprocess"', 'status="canceled"')
      const argv = ['cancel', '--streams', '-', ...events, '--yes', '-o', 'json']
      const ran = await cli(world, argv, { stdin: 'a' })
      expect(json(ran.stdout)).toMatchObject({ items: [{ stream: 'a', outcome: 'done' }], leftOut: 0 })
      expect(await statuses(world, 'a')).toEqual({ '00': 'canceled', '01.00': 'canceled', '02.00': 'canceled' })
    }
  })

  test('for retry omits streams without a failure', async () => {
    const world = await worldOf('a', 'b')
    await run(world.store, 'b', { op: 'fail', event: '01.00' })
    const ran = await cli(world, ['retry', '--all', '--yes', '-o', 'json'])
    expect(json(ran.stdout)).toMatchObject({ items: [{ stream: 'b', outcome: 'done' }], leftOut: 1 })
    expect(ran.stderr).toContain('1 without a failure, left out')
  })

  test('of a filter omits and counts events that are final', async () => {
    const world = await worldOf('a', 'b')
    await run(world.store, 'a', { op: 'complete', event: '01.00' })
    const argv = ['abort', '--all', '-e', '01.00', '-e', '02.00', '--yes', '-o', 'json', '--concurrency', '1']
    const ran = await cli(world, argv)
    expect(ran.exit).toBe(0)
    expect(json(ran.stdout)).toMatchObject({
      items: [
        { stream: 'a', event: '02.00', outcome: 'done', version: 3 },
        { stream: 'b', event: '01.00', outcome: 'done', version: 2 },
        { stream: 'b', event: '02.00', outcome: 'done', version: 3 },
      ],
      leftOut: 1,
    })
  })

  test('is refused if one of the streams lacks the event: it is missing, and nothing is changed', async () => {
    const world = await worldOf('a')
    await given(world, ['b'])
    const ran = await cli(world, ['cancel', '--all', '-e', '01.00', '--yes'])
    expect(ran.exit).toBe(3)
    expect(ran.stderr).toContain('b has no event 01.00')
    const skipping = await cli(world, ['cancel', '--all', '-e', '01.00', '--yes', '--skip-missing', '-o', 'json'])
    expect(json(skipping.stdout)).toMatchObject({ items: [{ stream: 'a', outcome: 'done' }] })
  })

  test('with --skip-missing continues with the other events of that stream', async () => {
    const world = await worldOf('a')
    const argv = ['cancel', 'a', '-e', '01.00', '-e', '07.00', '--skip-missing', '-o', 'json']
    const ran = await cli(world, argv)
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain('skipped: a has no event 07.00')
    expect(items(ran.stdout)).toMatchObject([{ stream: 'a', event: '01.00', outcome: 'done' }])
    expect((await statuses(world, 'a'))['00']).toBe('inprocess')
  })

  test('continues after an unreadable document, which is reported', async () => {
    const named = ['a', 'b', 'c']
    for (const argv of [named, [...named, '-e', '01.00'], ['--all', '--yes'], ['--all', '--yes', '-e', '01.00']]) {
      const world = await worldOf('a', 'c')
      await unreadable(world, 'b')
      const bad = Buffer.from((await world.store.read('b'))?.body ?? [])
      const ran = await cli(world, ['cancel', ...argv, '-o', 'json'])
      expect(ran.exit).toBe(7)
      expect(items(ran.stdout)).toMatchObject([
        { stream: 'a', outcome: 'done' },
        { stream: 'b', outcome: 'failed', error: { code: 'bad-document', exit: 12 } },
        { stream: 'c', outcome: 'done' },
      ])
      expect(Buffer.from((await world.store.read('b'))?.body ?? [])).toEqual(bad)
    }
  })

  test('of a single stream gives the exit code of its outcome', async () => {
    const world = newWorld()
    await unreadable(world, 'b')
    const ran = await cli(world, ['cancel', '--streams', '-', '--yes', '-o', 'ndjson'], { stdin: 'b' })
    expect(ran.exit).toBe(12)
    expect(json(ran.stdout)).toMatchObject({ stream: 'b', outcome: 'failed' })
  })
})

describe('the preview is binding:', () => {
  test('a stream changed since is skipped and reported as changed', async () => {
    const world = await worldOf('a', 'b', 'c')
    let changed = false
    const store = before(world.store, 'update', async () => {
      if (!changed) {
        changed = true
        await run(world.store, 'b', tag)
      }
    })
    const ran = await cli(world, ['cancel', '--all', '--yes', '-o', 'json'], { store })
    expect(ran.exit).toBe(7)
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'done' },
      { stream: 'b', outcome: 'changed', error: { code: 'changed', exit: 5 } },
      { stream: 'c', outcome: 'done' },
    ])
    expect((await statuses(world, 'b'))['00']).toBe('inprocess')
  })

  test('so is a stream that was removed since, or created again under its name', async () => {
    const world = await worldOf('a', 'b')
    let isFirst = true
    const store = before(world.store, 'update', async () => {
      if (!isFirst) return
      isFirst = false
      await world.store.remove('a', {})
      await world.store.remove('b', {})
      const init = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: 'another' } as const
      await transact(world.store, 'b', init, { commandId: 'c', by: 'x' })
    })
    const ran = await cli(world, ['cancel', '--all', '--yes', '-o', 'json'], { store })
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'changed', error: { code: 'stream-not-found' } },
      { stream: 'b', outcome: 'changed' },
    ])
    expect(await statuses(world, 'b')).toEqual({ '00': 'inprocess' })
  })

  test('a foreign write that came with a copied document is accepted, a later one is not', async () => {
    const world = await worldOf('a', 'b')
    for (const name of ['a', 'b']) {
      await writeForeign(world.store, name, 'name="A"', 'name="Mine"')
      const body = Buffer.from((await world.store.read(name))?.body ?? [])
      await world.store.remove(name, {})
      await copyInto(world.store, name, body, { existing: 'refuse', holder: HOLDER, leaseWaitMs: 0 })
    }
    let isFirst = true
    const store = before(world.store, 'update', async () => {
      if (isFirst) await run(world.store, 'b', tag)
      isFirst = false
    })
    const ran = await cli(world, ['cancel', '--all', '--yes', '-o', 'json'], { store })
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'done' },
      { stream: 'b', outcome: 'changed' },
    ])
  })

  test('a foreign write that the preview saw is accepted, a later one is not', async () => {
    const world = await worldOf('a', 'b')
    for (const name of ['a', 'b']) await writeForeign(world.store, name, 'name="A"', 'name="Mine"')
    let isFirst = true
    const store = before(world.store, 'update', async () => {
      if (isFirst) await writeForeign(world.store, 'b', 'name="B"', 'name="Theirs"')
      isFirst = false
    })
    const ran = await cli(world, ['cancel', 'a', 'b', '-o', 'json'], { store })
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'done' },
      { stream: 'b', outcome: 'changed' },
    ])
  })

  test("our own change of a stream's first event does not violate the precondition of its second", async () => {
    const world = await worldOf('a')
    await writeForeign(world.store, 'a', 'name="A"', 'name="Mine"')
    const argv = ['abort', 'a', '-e', '01.00', '-e', '02.00', '--if-version', '1', '-o', 'json']
    // the foreign write counts as a change of the requested version
    expect(items((await cli(world, argv)).stdout)).toMatchObject([{ outcome: 'changed' }, { outcome: 'changed' }])
    const ran = await cli(world, ['abort', 'a', '-e', '01.00', '-e', '02.00', '-o', 'json'])
    expect(items(ran.stdout)).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
  })

  test('a repeated command says already, although its streams have changed since', async () => {
    const world = await worldOf('a', 'b')
    const argv = ['retry', '--all', '--yes', '--command-id', 'c', '-o', 'json']
    for (const name of ['a', 'b']) await run(world.store, name, { op: 'fail', event: '01.00' })
    const first = await cli(world, argv)
    expect(items(first.stdout)).toMatchObject([{ commandId: 'c/a', outcome: 'done' }, { commandId: 'c/b' }])
    for (const name of ['a', 'b']) await run(world.store, name, { op: 'fail', event: '01.00' })
    const store = before(world.store, 'update', name => run(world.store, name, tag))
    const again = await cli(world, argv, { store })
    expect(again.exit).toBe(0)
    expect(items(again.stdout)).toMatchObject([
      { outcome: 'already', duplicate: true },
      { outcome: 'already', duplicate: true },
    ])
  })
})

describe('outcomes', () => {
  test('are printed as they arrive with -o ndjson, in the order of the selection with -o json', async () => {
    const world = await worldOf('a', 'b', 'c')
    let letGo = () => {}
    const gate = new Promise<void>(resolve => {
      letGo = resolve
    })
    const slow = () =>
      before(world.store, 'update', name => (name === 'a' ? gate : void (name === 'c' && setImmediate(letGo))))
    const ran = await cli(world, ['cancel', '--all', '--yes', '-o', 'ndjson'], { store: slow() })
    expect(lines(ran.stdout).map(({ stream }) => stream)).toEqual(['b', 'c', 'a'])
    const json = await cli(world, ['cancel', 'a', 'b', 'c', '-o', 'json'], { store: slow() })
    expect(items(json.stdout).map(({ stream }) => stream)).toEqual(['a', 'b', 'c'])
  })

  test('have a word each, with the reason and advice for the rest', async () => {
    const world = await worldOf('already', 'busy', 'changed', 'done', 'refused', 'unknown')
    await cli(world, ['cancel', 'already'])
    for (const event of ['01.00', '02.00']) await run(world.store, 'refused', { op: 'complete', event })
    await unreadable(world, 'failed')
    await world.store.acquireLease('busy', { leaseId: LEASE, durationS: -1, holder: { ...HOLDER, purpose: 'repair' } })
    const names = ['already', 'busy', 'changed', 'done', 'failed', 'refused', 'unknown']
    const store = new Proxy(world.store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          if (key === 'update' && args[0] === 'unknown') return { kind: 'unknown', cause: new Error('hush') }
          if (key === 'update' && args[0] === 'changed') await run(world.store, 'changed', tag)
          return value.apply(target, args)
        }
      },
    })
    const nowMs = () => world.nowMs
    const faulty = new Proxy(store, { get: (target, key) => (key === 'nowMs' ? nowMs : Reflect.get(target, key)) })
    const ran = await cli(world, ['cancel', ...names, '--lease-wait', '0s'], { store: faulty })
    expect(ran.exit).toBe(7)
    const rows = ran.stdout.trimEnd().split('\n').slice(1).sort()
    expect(rows.map(row => row.split(/ {2,}/)[1])).toEqual([
      '✓ already',
      '◷ busy',
      '! changed',
      '✓ done',
      '✗ failed',
      '✗ refused',
      '? unknown',
    ])
    expect(rows[1]).toMatch(/busy is leased by another.*\(held by tester@here \(pid 1\).*"repair"\) {2}\[lease-held\]$/)
    expect(ran.stderr).toContain('1 done, 1 already, 1 refused, 1 busy, 1 changed, 1 failed, 1 unknown\n')
    expect(ran.stderr).toContain('error: 5 of 7 not done')
    expect(ran.stderr).toContain(`try      leasectl cancel --rerun ${runFileOf(ran)}`)
  })

  test('are printed with -q only if the change was not done', async () => {
    const world = await worldOf('a', 'b')
    await cli(world, ['abort', 'b'])
    const ran = await cli(world, ['cancel', 'a', 'b', '-q'])
    expect(ran.stdout).toMatch(/^STREAM.*\nb +✗ refused/)
    expect(ran.stdout).not.toContain('✓')
    expect(await cli(await worldOf('a', 'b'), ['cancel', 'a', 'b', '-q'])).toMatchObject({ stdout: '', stderr: '' })
  })

  test('arrive for at most --concurrency streams at a time, 8 by default', async () => {
    for (const [argv, wanted] of [
      [[], 8],
      [['--concurrency', '3'], 3],
    ] as const) {
      const world = newWorld()
      await given(world, namesOf(20))
      let inFlight = 0
      let most = 0
      const store = before(world.store, 'update', async () => {
        most = Math.max(most, ++inFlight)
        await new Promise(setImmediate)
        inFlight--
      })
      expect((await cli(world, ['cancel', '--all', '--yes', ...argv], { store })).exit).toBe(0)
      expect(most).toBe(wanted)
    }
  })
})

describe('a batch ends early', () => {
  test('on Ctrl-C: changes in flight complete, no further one starts; a wait for a lease ends as busy', async () => {
    const world = newWorld()
    await given(world, namesOf(10))
    await world.store.acquireLease('s001', { leaseId: LEASE, durationS: -1, holder: HOLDER })
    const interruption = new AbortController()
    const store = before(world.store, 'update', name => {
      if (name === 's003') interruption.abort('SIGINT')
    })
    const argv = ['cancel', '--all', '--yes', '--concurrency', '4', '-o', 'json', '--lease-wait', '1h']
    const ran = await cli(world, argv, { store, signal: interruption.signal })
    expect(ran.exit).toBe(130)
    expect(json(ran.stdout)).toMatchObject({
      items: [
        { stream: 's000', outcome: 'done' },
        { stream: 's001', outcome: 'busy', error: { code: 'interrupted' } },
        { stream: 's002', outcome: 'done' },
        { stream: 's003', outcome: 'done' },
      ],
      total: 4,
      notBegun: 6,
    })
    // Printed at once: a second Ctrl-C would end it without a message.
    expect(ran.stderr).toMatch(/^run file \S+-cancel-\S+\.ndjson; --rerun does the rest$/m)
    const error = lines(ran.stderr.split('\n').slice(-2).join('\n'))[0]?.error
    expect(error).toMatchObject({ code: 'interrupted', exit: 130, applied: 'yes' })
    expect(await statuses(world, 's004')).toEqual({ '00': 'inprocess' })
  })

  test('on Ctrl-C between the events of one stream', async () => {
    const world = await worldOf('a')
    const interruption = new AbortController()
    const store = before(world.store, 'update', () => interruption.abort('SIGINT'))
    const argv = ['abort', 'a', '-e', '01.00', '-e', '02.00']
    const ran = await cli(world, argv, { store, signal: interruption.signal })
    expect(ran.exit).toBe(130)
    expect(ran.stderr).toContain('1 done; 1 not started')
    expect((await statuses(world, 'a'))['02.00']).toBe('init')
  })

  test('on SIGTERM, with 143', async () => {
    const world = await worldOf('a', 'b')
    const interruption = new AbortController()
    const store = before(world.store, 'update', () => interruption.abort('SIGTERM'))
    const argv = ['cancel', '--all', '--yes', '--concurrency', '1']
    expect((await cli(world, argv, { store, signal: interruption.signal })).exit).toBe(143)
  })

  test('if the store refuses one stream after another: the rest is not begun, and the reason is given', async () => {
    const world = newWorld()
    await given(world, namesOf(30))
    const store = before(world.store, 'update', name => {
      if (name !== 's000') throw new StoreUnreachable('no route to host')
    })
    const ran = await cli(world, ['cancel', '--all', '--yes', '--concurrency', '1'], { store })
    expect(ran.exit).toBe(7)
    expect(ran.stderr).toContain('1 done, 8 failed; 21 not started')
    expect(ran.stderr).toContain('because  no route to host')
  })

  test('but not because of scattered errors', async () => {
    const world = newWorld()
    await given(world, namesOf(30))
    const store = before(world.store, 'update', name => {
      if (Number(name.slice(1)) % 2 === 0) return
      throw new StoreUnreachable('no route to host')
    })
    const ran = await cli(world, ['cancel', '--all', '--yes', '--concurrency', '1'], { store })
    expect(ran.stderr).toContain('15 done, 15 failed')
  })
})

test('a preview changes nothing and takes no lease', async () => {
  const world = await worldOf('a', 'b')
  await cli(world, ['cancel', 'b'])
  const bodies = await Promise.all(['a', 'b'].map(name => bodyOf(world, name)))
  const calls = new Set<PropertyKey>()
  const store = new Proxy(world.store, {
    get(target, key) {
      calls.add(key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  for (const format of ['text', 'json', 'ndjson']) {
    const ran = await cli(world, ['cancel', '--all', '--dry-run', '-o', format], { store })
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toBe('1 stream: 1 inprocess; 1 already final, left out. A dry run: nothing was changed.\n')
    if (format === 'text') expect(ran.stdout).toMatch(/^NAME +STATUS .*\na +▶ inprocess .* 1\n$/)
    if (format === 'ndjson') expect(lines(ran.stdout)).toMatchObject([{ stream: 'a', status: 'inprocess', version: 1 }])
    if (format === 'json')
      expect(json(ran.stdout)).toMatchObject({
        dryRun: true,
        verb: 'cancel',
        items: [{ stream: 'a', event: null, status: 'inprocess', waitingOn: ['01.00', '02.00'], error: null }],
        total: 1,
        leftOut: 1,
      })
  }
  expect([...calls].filter(key => !['list', 'read', 'nowMs', 'address', 'then'].includes(String(key)))).toEqual([])
  expect(await Promise.all(['a', 'b'].map(name => bodyOf(world, name)))).toEqual(bodies)
})

test('a preview lists all targets, including unreadable documents and single events', async () => {
  const world = newWorld()
  await given(world, namesOf(30), ['A'])
  await unreadable(world, 'z')
  const names = [...namesOf(30), 'z']
  const ran = await cli(world, ['abort', ...names, '-e', '01.00', '--dry-run'])
  expect(ran.stdout.split('\n')).toHaveLength(33)
  expect(ran.stdout).toMatch(/s029 +01\.00 +○ init +▶ inprocess/)
  expect(ran.stdout).toMatch(/z +01\.00 .*bad-document/)
  expect(ran.stderr).toContain('30 events of 30 streams: 30 init; 1 not tried')
  const missing = await cli(world, ['abort', 's000', 'nix', '--dry-run'])
  expect(missing).toMatchObject({ exit: 3, stdout: '' })
})
