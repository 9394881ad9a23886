import { describe, expect, test } from 'vitest'
import { portsOf } from '../../../../src/commands/top/ports.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { given, linesOf, namesOf, runFiles, unreadable } from '../batch/support.ts'
import { storeWith } from '../store-with.ts'
import { bodyOf, cli, fakeRuntime, newWorld, statuses, type World } from '../support.ts'
import { carry, look, never, portsOver, streams, wordsOf } from './support.ts'

async function worldOf(names: readonly string[], forks: readonly string[] = ['A', 'B']): Promise<World> {
  const world = newWorld()
  await given(world, names, forks)
  return world
}

describe('the preview', () => {
  test('of one stream shows its name, state and consequences; nothing is changed', async () => {
    const world = await worldOf(['orders/1'])
    const before = await bodyOf(world, 'orders/1')
    const preview = await look(await portsOver(world), 'cancel', streams('orders/1'))
    expect(preview).toMatchObject({
      verb: 'cancel',
      question: 'This cancels orders/1',
      affected: ['orders/1  ▶ inprocess  2 open events below'],
      count: 1,
      confirm: { kind: 'yes' },
    })
    expect(await bodyOf(world, 'orders/1')).toBe(before)
  })

  test('of an event counts open events below it', async () => {
    const world = await worldOf(['s'])
    await cli(world, ['event', 'start', 's', '01.00'])
    await cli(world, ['event', 'advance', 's', '01.00', '--fork', 'X,Y'])
    const preview = await look(await portsOver(world), 'abort', [{ stream: 's', event: '01.00' }])
    expect(preview.question).toBe('This aborts 01.00 of s')
    expect(preview.affected[0]).toMatch(/^s {2}01\.00 {2}▶ inprocess {2}\d open events below$/)
  })

  test('of blocked and suspended streams says so, as the list of streams does', async () => {
    const world = await worldOf(['s'])
    await cli(world, ['init', 'b', '--steps', 'A,B', '--on-failure', 'block'])
    await cli(world, ['event', 'fail', 'b', '01.00'])
    await cli(world, ['suspend', 's', '-m', 'wait'])
    const preview = await look(await portsOver(world), 'cancel', streams('b', 's'))
    expect(preview.affected).toEqual([
      expect.stringMatching(/^b {2}■ blocked {4}\d open/),
      expect.stringMatching(/^s {2}‖ suspended {2}\d open/),
    ])
    expect(preview.facts.at(-1)).toBe('2 streams: 1 blocked, 1 suspended')
  })

  test('of several counts them by state, and omits and counts ended ones', async () => {
    const world = await worldOf(['a', 'b', 'c'])
    await cli(world, ['cancel', 'b'])
    const preview = await look(await portsOver(world), 'cancel', streams('a', 'b', 'c'))
    expect(preview).toMatchObject({ question: 'This cancels 2 streams', count: 2 })
    expect(preview.facts.at(-1)).toBe('2 streams: 2 inprocess; 1 already final, left out')
  })

  test('without a target gives the reason', async () => {
    const world = await worldOf(['s'])
    const ports = await portsOver(world)
    expect(await look(ports, 'retry', streams('s'))).toMatchObject({
      question: 'There is nothing to retry',
      facts: ['s is without a failure'],
      count: 0,
    })
    await cli(world, ['cancel', 's'])
    expect(await look(ports, 'cancel', streams('s'))).toMatchObject({ facts: ['s is already final'], count: 0 })
    expect(await look(ports, 'abort', streams('nix'))).toMatchObject({
      facts: ['not tried: there is no stream nix'],
      count: 0,
    })
    expect(await look(ports, 'abort', [{ stream: 's', event: '07' }])).toMatchObject({
      facts: ['not tried: s has no event 07'],
      count: 0,
    })
  })

  test('of a retry of what was canceled says so, and reopens it', async () => {
    const world = await worldOf(['s', 'sound', 't'])
    await cli(world, ['cancel', 's', 't', '-m', 'customer withdrew', '--yes'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'retry', streams('s'))
    expect(preview).toMatchObject({
      question: 'This retries s, canceled on request',
      affected: ['s  ⊘ canceled  1 canceled event'],
      count: 1,
    })
    expect(preview.command('back again')).toContain("retry s --canceled -m 'back again'")
    expect(await look(ports, 'retry', streams('s', 'sound', 't'))).toMatchObject({
      question: 'This retries 2 streams, canceled on request',
      count: 2,
    })
    expect(wordsOf(await carry(ports, preview))).toEqual(['done s'])
    expect(await statuses(world, 's')).not.toMatchObject({ '00': 'canceled' })
  })

  test('of a retry of failures leaves what was canceled as it is, and says so', async () => {
    const world = await worldOf(['s', 't'])
    await cli(world, ['event', 'start', 's', '01.00'])
    await cli(world, ['event', 'fail', 's', '01.00', '-m', 'gone'])
    await cli(world, ['cancel', 's', '-e', '02.00'])
    await cli(world, ['cancel', 't'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'retry', streams('s', 't'))
    expect(preview).toMatchObject({ question: 'This retries 1 stream', count: 1 })
    expect(preview.affected[0]).toContain('1 failed event; 1 canceled event left as they are')
    await carry(ports, preview)
    expect(await statuses(world, 's')).toMatchObject({ '01.00': 'init', '02.00': 'canceled' })
  })

  test('of an unreadable document has an objection, not an error; the others continue', async () => {
    const world = await worldOf(['good'])
    await unreadable(world, 'bad')
    const ports = await portsOver(world)
    const preview = await look(ports, 'abort', streams('bad', 'good'))
    expect(preview).toMatchObject({ count: 1, question: 'This aborts 1 stream' })
    expect(preview.affected[0]).toMatch(/^bad {3}✗ not tried {2}.*\[bad-document\]$/)
    expect(wordsOf(await carry(ports, preview))).toEqual(['done good', 'failed bad'])
  })

  test('of an event includes it with its stream if that is marked as a whole', async () => {
    const world = await worldOf(['s'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'cancel', [{ stream: 's', event: '01.00' }, { stream: 's' }])
    expect(preview.count).toBe(1)
    await carry(ports, preview)
    expect(await statuses(world, 's')).toMatchObject({ '00': 'canceled' })
  })

  test('in a protected store, and from 50 streams on, requires their number to be typed', async () => {
    const world = await worldOf(namesOf(50), [])
    const typed = (text: string) => ({ kind: 'type', text, what: 'the number of streams' })
    expect((await look(await portsOver(world), 'cancel', streams(...namesOf(49)))).confirm).toEqual({ kind: 'yes' })
    expect((await look(await portsOver(world), 'cancel', streams(...namesOf(50)))).confirm).toEqual(typed('50'))
    const guarded = await look(await portsOver(world, { isProtected: true }), 'cancel', streams('s000'))
    expect(guarded.confirm).toEqual(typed('1'))
  })

  test('has the equivalent command, with the inspected versions and the program as it was started', async () => {
    const world = await worldOf(['a', 'b c', '-x'])
    const setting = { startedAs: 'npx leasectl', source: 'flag' } as const
    const ports = await portsOver(world, setting)
    const command = async (...targets: Parameters<typeof look>[2]) =>
      (await look(ports, 'cancel', targets)).command('it is late')
    expect(await command({ stream: 'a', event: '01.00' })).toBe(
      "npx leasectl cancel a -e 01.00 -m 'it is late' --store memory:",
    )
    expect(await command(...streams('a', 'b c'))).toBe("npx leasectl cancel a 'b c' -m 'it is late' --store memory:")
    expect(await command({ stream: 'a', event: '01.00' }, { stream: 'b c' })).toBe(
      "npx leasectl cancel a -e 01.00 -m 'it is late' --store memory: && npx leasectl cancel 'b c' -m 'it is late' --store memory:",
    )
    expect((await look(ports, 'cancel', streams('-x'))).command('')).toBe('npx leasectl cancel --store memory: -- -x')
    const many = streams(...Array.from({ length: 1_000 }, (_, at) => `nowhere/${at}`))
    expect((await look(ports, 'cancel', many)).command('')).toBe(
      'npx leasectl cancel --streams - --store memory:  # 1000 names on standard input',
    )
  })
})

describe('the change', () => {
  test('of one stream reports outcome and consequences, with author and reason in the journal, and writes no run file', async () => {
    const world = await worldOf(['s'])
    const ports = await portsOver(world)
    const files = runFiles().length
    const carried = await carry(ports, await look(ports, 'cancel', streams('s')), 'customer called')
    expect(carried.outcomes).toEqual([
      { target: { stream: 's' }, word: 'done', isGood: true, text: 'canceled, with 2 more events' },
    ])
    expect(carried.end.lines).toContain('01.00  init → ⊘ canceled')
    expect((await cli(world, ['tail', 's', '-n', '1'])).stdout).toMatch(/tester@testhost +"customer called"/)
    expect(runFiles()).toHaveLength(files)
  })

  test('leaves a stream alone that changed after the preview, and reports it', async () => {
    const world = await worldOf(['a', 'b'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'cancel', streams('a', 'b'))
    await cli(world, ['event', 'start', 'a', '01.00'])
    const before = await bodyOf(world, 'a')
    const carried = await carry(ports, preview)
    expect(wordsOf(carried)).toEqual(['changed a', 'done b'])
    expect(await bodyOf(world, 'a')).toBe(before)
    expect(carried.outcomes.find(({ isGood }) => !isGood)?.text).toContain('[changed]')
  })

  test('of a batch writes a run file, and names it with the command for the rest', async () => {
    const world = await worldOf(['a', 'b'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'abort', streams('a', 'b'))
    await cli(world, ['event', 'start', 'a', '01.00'])
    const { end } = await carry(ports, preview, 'stuck')
    expect(end.lines[0]).toBe('1 done, 1 changed')
    const [, path = ''] = /^run file: (.*)$/.exec(end.lines[1] ?? '') ?? []
    expect(end.lines[2]).toBe(`the rest: leasectl abort --rerun ${path}`)
    const [head, ...lines] = linesOf(path)
    expect(head).toMatchObject({ verb: 'abort', by: 'tester@testhost', reason: 'stuck', total: 2 })
    expect(lines).toContainEqual(expect.objectContaining({ record: 'outcome', stream: 'a', outcome: 'changed' }))
    expect(await cli(world, ['abort', '--rerun', path, '--yes'])).toMatchObject({ exit: 0 })
    expect(await statuses(world, 'a')).toMatchObject({ '00': 'aborted' })
  })

  test('retry reopens failed events', async () => {
    const world = await worldOf(['s'])
    await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w'])
    await cli(world, ['event', 'fail', 's', '01.00', '--owner', 'w'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'retry', streams('s'))
    expect(preview.affected).toEqual(['s  ▶✗ failing  1 failed event'])
    expect(wordsOf(await carry(ports, preview, 'gateway is back'))).toEqual(['done s'])
    expect(await statuses(world, 's')).toMatchObject({ '01.00': 'init' })
  })

  test('made twice is applied once', async () => {
    const world = await worldOf(['s'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'cancel', streams('s'))
    await carry(ports, preview)
    const again = await carry(ports, preview)
    expect(again.outcomes[0]).toMatchObject({ word: 'already', text: 'this command was done before' })
  })

  test('is busy if another holds the lease, with its holder', async () => {
    const world = await worldOf(['s'])
    await cli(world, ['lease', 'acquire', 's', '--by', 'worker-7', '-m', 'repair'])
    const held = { state: 'leased', holder: (await world.store.read('s'))?.lease.holder } as const
    const store = storeWith(world.store, {
      update: async () => ({
        kind: 'held',
        waitedMs: 10_000,
        lease: { state: 'leased', ...(held.holder === undefined ? {} : { holder: held.holder }) },
      }),
    })
    const ports = await portsOver(world, { store })
    const { outcomes, end } = await carry(ports, await look(ports, 'cancel', streams('s')), 'now')
    expect(outcomes[0]).toMatchObject({
      word: 'busy',
      isGood: false,
      text: expect.stringContaining('worker-7@testhost'),
    })
    expect(end.lines.join('\n')).toContain('leasectl cancel s -m now --lease-wait 60s')
  })

  test('stops at the signal before the targets that have not begun, and the run file has the rest', async () => {
    const world = await worldOf(namesOf(30), [])
    const stop = new AbortController()
    const ports = await portsOver(world)
    const preview = await look(ports, 'cancel', streams(...namesOf(30)))
    const outcomes: string[] = []
    const end = await ports.carryOut(
      preview,
      '',
      ({ word }) => {
        outcomes.push(word)
        stop.abort()
      },
      stop.signal,
    )
    expect(outcomes.length).toBeLessThan(30)
    expect(end.lines[0]).toMatch(/\d+ done; \d+ not started/)
    expect(end.lines.at(-1)).toMatch(/^the rest: leasectl cancel --rerun /)
  })

  test('with an invalid reason is refused before it begins', async () => {
    const world = await worldOf(['s'])
    const before = await bodyOf(world, 's')
    const ports = await portsOver(world)
    const preview = await look(ports, 'cancel', streams('s'))
    await expect(carry(ports, preview, 'x'.repeat(1_025))).rejects.toThrow('longer than 1024 bytes')
    expect(await bodyOf(world, 's')).toBe(before)
  })

  test('without a run file does not begin', async () => {
    const world = await worldOf(['a', 'b'])
    const ports = await portsOver(world, { env: { XDG_STATE_HOME: '/dev/null' } })
    const preview = await look(ports, 'cancel', streams('a', 'b'))
    await expect(carry(ports, preview)).rejects.toThrow(/run file .* cannot be written/)
    expect(await statuses(world, 'a')).toMatchObject({ '00': 'inprocess' })
  })

  test('of a preview for another store is refused', async () => {
    const world = await worldOf(['s'])
    const preview = await look(await portsOver(world), 'cancel', streams('s'))
    await expect(carry(await portsOver(world), preview)).rejects.toThrow('not previewed here')
  })
})

test('a store that does not answer makes the preview throw, and the change report it in words', async () => {
  const world = await worldOf(['s'])
  const store = storeWith(world.store, {
    read: async () => {
      throw new StoreUnreachable('no answer', { hint: 'wait' })
    },
  })
  const ports = await portsOver(world, { store })
  const error: unknown = await ports.preview('cancel', streams('s'), never).catch(reason => reason)
  expect(ports.explain(error)).toEqual({ code: 'store-unreachable', message: 'no answer; wait' })
})

test('a closed stdout does not end the program during a change; afterwards it does again', async () => {
  const world = await worldOf(['s'])
  const { runtime } = fakeRuntime(world, ['top'])
  const ports = portsOf(await runtime.openStore({}), { mayUnlock: true, onSwitch: async () => {} }, runtime)
  const kinds: string[] = []
  const preview = await look(ports, 'cancel', streams('s'))
  await ports.carryOut(preview, '', () => void kinds.push(runtime.kind), never)
  expect([...kinds, runtime.kind]).toEqual(['writes', 'reads'])
})

describe('a signal', () => {
  async function gatedWorld(): Promise<World> {
    const world = await worldOf(['s'], ['A'])
    await cli(world, ['event', 'advance', 's', '01.00', '--next', 'Ship', '--wait-for', 'approve'])
    return world
  }

  test('lists what waits, and names the command', async () => {
    const ports = await portsOver(await gatedWorld())
    const preview = await look(ports, 'signal', streams('s'))
    expect(preview).toMatchObject({
      question: 'This signals s',
      affected: ['s  ▶ inprocess  waits: approve for 01.01 Ship'],
      awaited: ['approve'],
      count: 1,
    })
    expect(preview.command('by eva', { name: 'approve', data: '{"a":1}' })).toBe(
      `leasectl signal s approve --data '{"a":1}' -m 'by eva'`,
    )
  })

  test('opens the event that waits for it, with its data', async () => {
    const world = await gatedWorld()
    const ports = await portsOver(world)
    const preview = await look(ports, 'signal', streams('s'))
    const outcomes: string[] = []
    const given = { name: 'approve', data: '{"a":1}' }
    await ports.carryOut(preview, 'by eva', ({ word, text }) => void outcomes.push(`${word} ${text}`), never, given)
    expect(outcomes).toEqual(['done signaled, 1 opened'])
    expect((await cli(world, ['event', 'data', 's', '01.01', '--input'])).stdout).toContain('{"a":1}')
  })

  test('changes nothing if its file cannot be read or standard input is asked for', async () => {
    const world = await gatedWorld()
    const ports = await portsOver(world)
    const before = await bodyOf(world, 's')
    for (const data of ['@/no/such/file', '-']) {
      const preview = await look(ports, 'signal', streams('s'))
      const sent = ports.carryOut(preview, '', () => {}, never, { name: 'approve', data })
      await expect(sent).rejects.toThrow(/cannot be read|no standard input/)
    }
    expect(await bodyOf(world, 's')).toBe(before)
  })

  test('says where nothing waits that it is kept, and leaves out what has ended', async () => {
    const world = await worldOf(['a', 'b'])
    await cli(world, ['cancel', 'b'])
    const preview = await look(await portsOver(world), 'signal', streams('a', 'b'))
    expect(preview.affected).toEqual(['a  ▶ inprocess  nothing waits for a signal: it is kept'])
    expect(preview.facts.at(-1)).toBe('1 stream: 1 inprocess; 1 already final, left out')
  })
})

describe('skipping', () => {
  test('lets what the failed event blocks go on', async () => {
    const world = newWorld()
    await cli(world, ['init', 's', '--steps', 'A,B', '--on-failure', 'block'])
    await cli(world, ['event', 'fail', 's', '01.00', '-m', 'no'])
    const ports = await portsOver(world)
    const preview = await look(ports, 'skip', [{ stream: 's', event: '01.00' }])
    expect(preview).toMatchObject({ question: 'This skips 01.00 of s', count: 1 })
    expect(preview.command('by hand')).toBe("leasectl event skip s 01.00 -m 'by hand'")
    expect(wordsOf(await carry(ports, preview, 'by hand'))).toEqual(['done s'])
    expect(await bodyOf(world, 's')).toMatch(/id="01\.00".*lc:skipped=/)
  })

  test('says why an event cannot be skipped', async () => {
    const world = await worldOf(['s'])
    await cli(world, ['event', 'fail', 's', '01.00', '-m', 'no'])
    const preview = await look(await portsOver(world), 'skip', [{ stream: 's', event: '01.00' }])
    expect(preview).toMatchObject({ question: 'There is nothing to skip', count: 0 })
    expect(preview.affected[0]).toContain('the stream does not block on failures')
  })
})
