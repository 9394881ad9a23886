import { afterEach, describe, expect, test } from 'vitest'
import {
  type DeliveryOptions,
  DeliveryQueue,
  type DeliveryReport,
  type HookDelivery,
} from '../../../../src/watchdog/hooks/delivery.ts'
import { DEFAULT_TRIES, type WebhookTarget } from '../../../../src/watchdog/hooks/target.ts'
import { NOW } from '../../ops/support.ts'
import { clockedTiming, heldTiming, hurriedTiming, LOOPBACK, type Receiver, receiver, until } from './support.ts'

const TIMEOUT_MS = 30_000

const open: Receiver[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function take(...given: Parameters<typeof receiver>): Promise<Receiver> {
  const one = await receiver(...given)
  open.push(one)
  return one
}

function target({ url }: Receiver, tries = 3): WebhookTarget {
  return { kind: 'webhook', url, ...LOOPBACK, timeoutMs: TIMEOUT_MS, tries }
}

function parcel(to: WebhookTarget, id = 'done-1', text = '{}'): HookDelivery {
  return { target: to, kind: 'done', stream: 's', id, text, environment: {} }
}

function courier(options: Partial<DeliveryOptions> = {}) {
  const reports: DeliveryReport[] = []
  const timing = hurriedTiming(TIMEOUT_MS)
  const onDelivery = (report: DeliveryReport) => void reports.push(report)
  const usual = { timing, nowMs: () => NOW, userAgent: 'leasectl/9', onDelivery }
  return { courier: new DeliveryQueue({ ...usual, ...options }), reports, timing }
}

/** Submits it and waits for its end. */
async function delivered(one: DeliveryQueue, what: HookDelivery): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  await one.accept(what, resolve)
  await promise
}

describe('a delivery', () => {
  test('is retried with the same id until it is accepted', async () => {
    const host = await take((response, _, count) => void response.writeHead(count < 3 ? 500 : 200).end(`try ${count}`))
    const { courier: one, reports, timing } = courier()
    await delivered(one, parcel(target(host)))
    expect(host.received.map(({ headers }) => headers['webhook-id'])).toEqual(['done-1', 'done-1', 'done-1'])
    expect(reports.map(({ outcome, tries, code, output }) => [outcome, tries, code, output])).toEqual([
      ['retrying', 1, 'http-500', 'try 1'],
      ['retrying', 2, 'http-500', 'try 2'],
      ['delivered', 3, 'http-200', 'try 3'],
    ])
    expect(timing.pauses.filter(ms => ms !== TIMEOUT_MS)).toEqual([7_500, 22_500])
  })

  test('is abandoned after the last attempt, or at once if no retry can succeed', async () => {
    const down = await take(response => void response.writeHead(500).end())
    const wrong = await take(response => void response.writeHead(410).end())
    const { courier: one, reports } = courier()
    await delivered(one, parcel(target(down, 2)))
    await delivered(one, parcel(target(wrong)))
    expect(reports.map(({ outcome, tries, code }) => [outcome, tries, code])).toEqual([
      ['retrying', 1, 'http-500'],
      ['given-up', 2, 'http-500'],
      ['given-up', 1, 'http-410'],
    ])
    expect(one.pending).toBe(0)
  })

  test.each([
    ['the minimum', 0, [5, 15, 45, 135, 150, 150, 150]],
    ['much', 0.8, [9, 27, 81, 243, 270, 270, 270]],
  ])('survives a restart of the receiver, whatever the jitter: %s', async (_, random, pausesS) => {
    const down = await take(response => void response.writeHead(503).end())
    const hurried = hurriedTiming(TIMEOUT_MS)
    const { courier: one, reports } = courier({ timing: { ...hurried, random: () => random } })
    await delivered(one, parcel(target(down, DEFAULT_TRIES)))
    expect(hurried.pauses.filter(ms => ms !== TIMEOUT_MS).map(ms => ms / 1_000)).toEqual(pausesS)
    expect(reports.at(-1)).toMatchObject({ outcome: 'given-up', tries: 8 })
  })

  test('is left once its time is over, and no other is attempted while none succeeds', async () => {
    const down = await take(response => void response.writeHead(503).end())
    const quick = await take()
    const { timing, passS } = clockedTiming(TIMEOUT_MS)
    const { courier: one, reports } = courier({ timing, retryForMs: 60_000 })
    const to = target(down, 8)
    const ends: boolean[] = []
    await one.accept(parcel(to, 'a'), isOver => ends.push(isOver))
    await until(() => ends.length > 0)
    expect(reports.map(({ outcome }) => outcome)).toEqual(['retrying', 'retrying', 'left'])
    passS(60)
    await one.accept(parcel(to, 'b'), isOver => ends.push(isOver))
    await until(() => ends.length > 1)
    expect(ends).toEqual([false, false])
    expect(down.received).toHaveLength(3)
    await delivered(one, parcel(target(quick)))
    expect(one.pending).toBe(0)
  })

  test('waits as long as the receiver requests', async () => {
    const host = await take(
      (response, _, count) => void response.writeHead(count < 2 ? 429 : 200, { 'retry-after': '60' }).end(),
    )
    const { courier: one, timing } = courier()
    await delivered(one, parcel(target(host)))
    expect(timing.pauses.filter(ms => ms !== TIMEOUT_MS)).toEqual([60_000])
  })
})

describe('many deliveries', () => {
  test('run four at a time to each target, and one that hangs delays no other target', async () => {
    const hanging = await take(() => {})
    const quick = await take()
    const { courier: one } = courier({ timing: heldTiming() })
    const slow = target(hanging)
    for (let at = 0; at < 9; at += 1) await one.accept(parcel(slow, `done-${at}`), () => {})
    await hanging.came(4)
    await delivered(one, parcel(target(quick)))
    expect(hanging.received).toHaveLength(4)
    expect(one.pending).toBe(9)
  })

  test('wait if the queue is full; long ones take more of it', async () => {
    const host = await take(() => {})
    const timing = heldTiming()
    const { courier: one } = courier({ queue: 4, timing })
    const to = target(host)
    const order: string[] = []
    await one.accept(parcel(to, 'a', 'x'.repeat(32 * 1_024 * 3)), () => {})
    await one.accept(parcel(to, 'b'), () => {})
    const third = one.accept(parcel(to, 'c'), () => {}).then(isIn => order.push(`c ${isIn}`))
    await host.came(2)
    expect(order).toEqual([])
    const drained = one.drain(1_234)
    await until(() => timing.pauses.at(-1) === 1_234)
    timing.passed()
    await drained
    await third
    expect(order).toEqual(['c false'])
  })
})

describe('during a drain', () => {
  test('deliveries in flight may complete, and no others begin', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const host = await take(response => void mayAnswer.then(() => response.writeHead(200).end()))
    const { courier: one, reports } = courier({ atOnce: 1, timing: heldTiming() })
    const to = target(host)
    const ended: string[] = []
    for (const id of ['a', 'b']) await one.accept(parcel(to, id), isOver => isOver && ended.push(id))
    await host.came(1)
    const drained = one.drain(1_000)
    answer()
    await drained
    expect(ended).toEqual(['a'])
    expect(host.received).toHaveLength(1)
    expect(reports.map(({ deliveryId, outcome }) => [deliveryId, outcome])).toEqual([['a', 'delivered']])
    expect(await one.accept(parcel(to, 'c'), () => {})).toBe(false)
  })

  test('slower deliveries are aborted and left', async () => {
    const host = await take(() => {})
    const timing = heldTiming()
    const { courier: one, reports } = courier({ timing })
    const ended: string[] = []
    await one.accept(parcel(target(host)), isOver => isOver && ended.push('ended'))
    await host.came(1)
    const drained = one.drain(1_234)
    await until(() => timing.pauses.at(-1) === 1_234)
    timing.passed()
    await drained
    expect(ended).toEqual([])
    expect(reports.map(({ outcome }) => outcome)).toEqual(['left'])
  })

  test('failed deliveries are not retried, nor those waiting for a retry', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const host = await take((response, { headers }) => {
      if (headers['webhook-id'] === 'waits') response.writeHead(500).end()
      else void mayAnswer.then(() => response.writeHead(500).end())
    })
    const timing = heldTiming()
    const { courier: one, reports } = courier({ timing })
    const ended: string[] = []
    for (const id of ['waits', 'late']) await one.accept(parcel(target(host), id), isOver => isOver && ended.push(id))
    await until(() => reports.length > 0)
    await host.came(2)
    const drained = one.drain(1_000)
    answer()
    await drained
    expect(host.received).toHaveLength(2)
    expect(ended).toEqual([])
    expect(reports.map(({ deliveryId, outcome }) => [deliveryId, outcome])).toEqual([
      ['waits', 'retrying'],
      ['late', 'left'],
    ])
  })
})
