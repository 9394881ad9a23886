import { afterEach, describe, expect, test } from 'vitest'
import { init, run } from '../../ops/support.ts'
import { heldTiming, hurriedTiming, receiver, soon, until } from './support.ts'
import { type HookWorld, hookWorld, type Started, webhook } from './world.ts'

let world: HookWorld
afterEach(() => world.close())

/** Streams that were aborted, and a watchdog with a hook for them that has seen the store before. */
async function aborted(
  names: readonly string[],
  answer: Parameters<typeof receiver>[0],
  options: Parameters<HookWorld['start']>[0] = {},
): Promise<Started> {
  world = await hookWorld(answer)
  const started = world.start({ kinds: ['done'], ...options })
  await started.sweep()
  world.advance(60_000)
  for (const name of names) {
    await run(world.store, name, init())
    await run(world.store, name, { op: 'abort' })
  }
  return started
}

/** A sweep with as much time as its retries need. */
async function sweptWithTime({ sweep }: Started): Promise<void> {
  let isOver = false
  const swept = sweep().finally(() => {
    isOver = true
  })
  while (!isOver) {
    world.advance(1_000)
    await soon()
  }
  await swept
}

const outcomes = ({ reports }: Started) => reports.map(({ outcome, tries, code }) => [outcome, tries, code])

describe('a delivery', () => {
  test('is retried with the same id until it is accepted', async () => {
    const one = await aborted(['s'], (response, _, count) => {
      response.writeHead(count < 3 ? 500 : 200).end(`try ${count}`)
    })
    await sweptWithTime(one)
    expect(outcomes(one)).toEqual([
      ['retrying', 1, 'http-500'],
      ['retrying', 2, 'http-500'],
      ['delivered', 3, 'http-200'],
    ])
    expect(one.reports.map(({ output }) => output)).toEqual(['try 1', 'try 2', 'try 3'])
    expect(new Set(world.host.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  test('is given up after the last attempt, and the next one of its stream follows', async () => {
    const one = await aborted(['s'], (response, _, count) => void response.writeHead(count < 4 ? 500 : 204).end())
    await run(world.store, 's', { op: 'retry' })
    await run(world.store, 's', { op: 'abort' })
    await sweptWithTime(one)
    expect(outcomes(one)).toEqual([
      ['retrying', 1, 'http-500'],
      ['retrying', 2, 'http-500'],
      ['given-up', 3, 'http-500'],
      ['delivered', 1, 'http-204'],
    ])
    expect([one.feed.pending, one.feed.left]).toEqual([0, 0])
  })

  test('is given up at once if no retry can succeed', async () => {
    const one = await aborted(['s'], response => void response.writeHead(410).end())
    await one.sweep()
    expect(outcomes(one)).toEqual([['given-up', 1, 'http-410']])
  })

  test('waits as long as the receiver requests', async () => {
    const one = await aborted(['s'], (response, _, count) => {
      response.writeHead(count < 2 ? 429 : 200, { 'retry-after': '100' }).end()
    })
    const swept = one.sweep()
    await until(() => one.reports.length > 0)
    world.advance(99_000)
    for (let turns = 0; turns < 20; turns += 1) await soon()
    expect(world.host.received).toHaveLength(1)
    world.advance(2_000)
    await swept
    expect(world.host.received).toHaveLength(2)
  })

  test('is left once its time is over, and no other is attempted while none succeeds', async () => {
    let nowMs = 0
    const one = await aborted(['a'], response => void response.writeHead(503).end(), {
      limits: { retryForMs: 20_000, atOnce: 1 },
      timing: { ...hurriedTiming(30_000), monotonicMs: () => nowMs },
    })
    await sweptWithTime(one)
    expect(outcomes(one).map(([outcome]) => outcome)).toEqual(['retrying', 'left'])
    nowMs = 60_000
    await run(world.store, 'b', init())
    await run(world.store, 'b', { op: 'abort' })
    await one.sweep()
    expect(world.host.received).toHaveLength(2)
    expect(one.feed.left).toBe(2)
  })
})

describe('many deliveries', () => {
  test('run four at a time to each target, and one that hangs delays no other target', async () => {
    const quick = await receiver()
    world = await hookWorld(() => {})
    const slow = world.start({ hooks: { done: [webhook(world.host), webhook(quick)] } })
    await slow.sweep()
    world.advance(60_000)
    for (let at = 0; at < 9; at += 1) {
      await run(world.store, `n${at}`, init())
      await run(world.store, `n${at}`, { op: 'abort' })
    }
    await slow.pass()
    await quick.came(9)
    await world.host.came(4)
    await until(() => slow.feed.pending === 9)
    expect(world.host.received).toHaveLength(4)
    await slow.feed.drain(0)
    await quick.close()
  })
})

describe('during a drain', () => {
  test('slower deliveries are aborted and left', async () => {
    const timing = heldTiming()
    const one = await aborted([], () => {}, {})
    const late = world.start({ kinds: ['done'], timing: { ...timing, pause: pauseUnless(timing, 1_234) } })
    await late.sweep()
    world.advance(60_000)
    await run(world.store, 's', init())
    await run(world.store, 's', { op: 'abort' })
    await late.pass()
    await world.host.came(1)
    const drained = late.feed.drain(1_234)
    await until(() => timing.pauses.includes(1_234))
    timing.passed()
    await drained
    expect(late.reports.map(({ outcome }) => outcome)).toEqual(['left'])
    expect([late.feed.left, one.feed.left]).toEqual([1, 0])
  })

  test('failed deliveries are not retried, nor those waiting for a retry', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const one = await aborted(['late', 'waits'], (response, { body }) => {
      if (body.includes('"stream":"waits"')) response.writeHead(500).end()
      else void mayAnswer.then(() => response.writeHead(500).end())
    })
    await one.pass()
    await until(() => one.reports.length > 0)
    await world.host.came(2)
    const drained = one.feed.drain(30_000)
    answer()
    await drained
    expect(world.host.received).toHaveLength(2)
    expect(one.reports.map(({ stream, outcome }) => [stream, outcome])).toEqual([
      ['waits', 'retrying'],
      ['late', 'left'],
    ])
    expect(one.feed.left).toBe(2)
  })
})

/** Pauses take no time, except the long ones of deliveries and the one given. */
function pauseUnless(timing: ReturnType<typeof heldTiming>, heldMs: number) {
  return async (ms: number, signal: AbortSignal) => {
    if (ms === heldMs || ms === 30_000) await timing.pause(ms, signal)
    else await soon()
  }
}
