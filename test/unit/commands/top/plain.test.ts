import { describe, expect, test } from 'vitest'
import { ContainerMissing, NotPermitted, StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { storeWith } from '../store-with.ts'
import { cli, newWorld, type Setting, type World } from '../support.ts'

/** `top` in a pipe over a store with an action at a poll; the last poll ends it. */
async function plain(world: World, line: string, looks: readonly (() => unknown)[], setting: Setting = {}) {
  const controller = new AbortController()
  let at = 0
  const look = async () => {
    const act = looks[at++]
    if (at > looks.length) controller.abort('SIGTERM')
    await act?.()
  }
  const store: StreamStore = storeWith(world.store, {
    async *list(query) {
      await look()
      yield* world.store.list(query)
    },
    read: async (name, signal) => {
      if (line.split(' ')[1]?.startsWith('--') === false) await look()
      return world.store.read(name, signal)
    },
  })
  return cli(world, [...line.split(' '), '--interval', '1ms'], { store, signal: controller.signal, ...setting })
}

const nothing = () => {}
const cancel = (world: World, name: string) => () => cli(world, ['cancel', name, '-m', 'why'])

test('a stream is printed as a tree once, then its transactions; SIGTERM ends it with 143', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  const ran = await plain(world, 'top s', [nothing, nothing, cancel(world, 's')])
  expect(ran.exit).toBe(143)
  expect(ran.stdout.match(/▾ 00 Start/g)).toHaveLength(1)
  expect(ran.stdout).toMatch(/v1\n[\s\S]*01\.00 A +○ init[\s\S]*\n\n.*v2 +cancel +00 +inprocess → ⊘ canceled.*"why"/)
  expect(ran.stderr).toBe('-- s is done; a retry may reopen it (Ctrl-C to stop)\n')
})

test('a missing stream is waited for, with one message', async () => {
  const world = newWorld()
  const ran = await plain(world, 'top s', [nothing, nothing, () => cli(world, ['init', 's', '--fork', 'A']), nothing])
  expect(ran.stderr).toBe('-- there is no stream s yet; waiting for it (Ctrl-C ends)\n')
  expect(ran.stdout).toMatch(/^s {2}v1\n/)
  expect(ran.exit).toBe(143)
})

test('during the wait an outage is reported once, and its end', async () => {
  const lost = () => {
    throw new StoreUnreachable('no answer')
  }
  const world = newWorld()
  const ran = await plain(world, 'top s', [nothing, lost, lost, lost, nothing, nothing])
  expect(ran.stderr.split('\n')).toEqual([
    '-- there is no stream s yet; waiting for it (Ctrl-C ends)',
    '-- connection lost: no answer; trying again',
    '-- connected again; nothing was missed',
    '',
  ])
})

test('all streams are printed as a listing once, then changes', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a'])
  await cli(world, ['init', 'b'])
  world.nowMs += 60_000
  const ran = await plain(world, 'top --match ?', [nothing, nothing, cancel(world, 'b'), nothing])
  expect(ran.exit).toBe(143)
  expect(ran.stdout).toMatch(/^NAME +STATUS[^\n]*\na +▶ inprocess[^\n]*\nb +▶ inprocess[^\n]*\n\nb +\S+ +v2 +cancel/)
  expect(ran.stdout.match(/^NAME/gm)).toHaveLength(1)
  expect(ran.stderr).toBe('')
})

test('of more than 200 streams the first are listed, and the total', async () => {
  const world = newWorld()
  for (let at = 0; at < 203; at++) await cli(world, ['init', `s/${at}`])
  world.nowMs += 60_000
  const ran = await plain(world, 'top', [nothing, nothing])
  expect(ran.stdout.match(/inprocess/g)).toHaveLength(200)
  expect(ran.stderr).toContain('showing 200 of 203')
})

test('nothing is drawn in place, and there are no colours without a terminal', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const { stdout } = await plain(world, 'top s', [nothing, nothing, cancel(world, 's')])
  expect(stdout).not.toMatch(/[\u001b\r]/)
})

test.each([
  ['no terminal for the output', { terminal: true }],
  ['no terminal for the input', { columns: 80 }],
  ['TERM=dumb', { terminal: true, columns: 80, env: { TERM: 'dumb' } }],
  ['CI', { terminal: true, columns: 80, env: { CI: 'true' } }],
  ['ACCESSIBLE=1', { terminal: true, columns: 80, env: { ACCESSIBLE: '1' } }],
])('%s: lines instead of the screen', async (_why, setting) => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await plain(world, 'top s', [nothing, nothing], setting)
  expect(ran.stdout).toContain('▶ inprocess')
  expect(ran.exit).toBe(143)
})

test('--accessible prints lines on a terminal too, without moving the cursor', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const ran = await plain(world, 'top s --accessible', [nothing, nothing], { terminal: true, columns: 80 })
  expect(ran.stdout.replace(/\u001b\[[\d;]*m/g, '')).not.toMatch(/[\u001b\r]/)
})

test('--accessible prints a sentence for each stream and one for all, up to the limit', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', 'Pay,Ship', '--timeout', '1h'])
  await cli(world, ['abort', 'a', '-e', '01.00', '-m', 'card refused'])
  await cli(world, ['init', 'b'])
  await cli(world, ['cancel', 'b', '-m', 'withdrawn'])
  await cli(world, ['init', 'n/ze\u200bro'])
  const ran = await plain(world, 'top --accessible --limit 2', [nothing, nothing])
  expect(ran.stdout.split('\n').slice(0, 3)).toEqual([
    'a: failing, 1 of 3 events ended, 1 failed, waits on 02.00, due in 1h, 0s old; first failure 01.00 Pay: card refused',
    'b: canceled, 1 of 1 event ended, 1 canceled; first canceled 00 Start: withdrawn',
    '3 streams, 2 open, 1 failed, 1 canceled; 1 stream not listed, --limit lists more',
  ])
  const all = await plain(world, 'top', [nothing, nothing], { env: { ACCESSIBLE: '1' } })
  expect(all.stdout).toContain('n/ze\\u{200b}ro: inprocess, 0 of 1 event ended')
})

test('--accessible names three of the events that are waited for, and three silent workers', async () => {
  const world = newWorld()
  await cli(world, ['init', 'a', '--fork', Array.from({ length: 80 }, () => 'Load').join()])
  for (let at = 1; at <= 5; at++) await cli(world, ['event', 'start', 'a', `0${at}.00`, '--owner', `w-${at}`])
  world.nowMs += 3_600_000
  const ran = await plain(world, 'top --accessible', [nothing, nothing])
  expect(ran.stdout).toContain(
    ', waits on 01.00, 02.00, 03.00 and 77 more, silent: w-1 of 01.00, w-2 of 02.00, w-3 of 03.00 and 2 more, ',
  )
})

test('--accessible has a sentence for each inbox', async () => {
  const world = newWorld()
  await cli(world, ['inbox', 'create', 'orders', '--partitions', '2'])
  const ran = await plain(world, 'top --accessible', [nothing, nothing])
  expect(ran.stdout).toContain('inbox orders: nothing waits; nobody drains it, 0.0/s in, 0.0/s out\n')
  const some = await plain(world, 'top --accessible --match x', [nothing, nothing])
  expect(some.stdout).not.toContain('inbox')
})

test.each([
  [new NotPermitted('no rights'), 4],
  [new ContainerMissing('no container'), 3],
  [new StoreUnreachable('no answer'), 9],
])('a store that answers the first poll with %s ends it with %i', async (error, exit) => {
  const throws = () => {
    throw error
  }
  expect((await plain(newWorld(), 'top s', [throws])).exit).toBe(exit)
  expect((await plain(newWorld(), 'top', [throws])).exit).toBe(exit)
})

test('an unreadable document is exit 12', async () => {
  const world = newWorld()
  await cli(world, ['init', 's'])
  const stored = await world.store.read('s')
  const store = storeWith(world.store, { read: async () => stored && { ...stored, body: Buffer.from('<x') } })
  expect((await cli(world, ['top', 's'], { store })).exit).toBe(12)
})

describe('several stores', () => {
  /** Runs until the store `us` was listed this often. */
  async function several(line: string, looks: number, isAway: (look: number) => boolean) {
    const [eu, us] = [newWorld(), newWorld()]
    await cli(eu, ['init', 'orders/1', '--fork', 'A'])
    await cli(us, ['init', 'orders/2', '--fork', 'A'])
    const controller = new AbortController()
    let look = 0
    const away: StreamStore = storeWith(us.store, {
      async *list(query) {
        if (++look > looks) controller.abort('SIGTERM')
        if (isAway(look)) throw new StoreUnreachable('no connection')
        if (look === looks) await cli(eu, ['cancel', 'orders/1', '-m', 'why'])
        if (look === looks) await cli(us, ['cancel', 'orders/2', '-m', 'why'])
        yield* us.store.list(query)
      },
    })
    const others = { eu: eu.store, us: away }
    const words = [...line.split(' '), '-c', 'eu,us', '--interval', '1ms']
    return cli(newWorld(), words, { others, signal: controller.signal })
  }
  const never = () => false

  test('are listed one below the other, then each line names the store of its stream', async () => {
    const { exit, stdout } = await several('top', 4, never)
    expect(exit).toBe(143)
    expect(stdout).toMatch(/^eu, [^\n]+\nNAME [^\n]+\norders\/1 [^\n]+\n\n/m)
    expect(stdout).toMatch(/^us, [^\n]+\nNAME [^\n]+\norders\/2 [^\n]+\n\n/m)
    expect(stdout).toMatch(/^us:orders\/2 +\S+ +v2 +cancel/m)
  })

  test('are sentences that name the store', async () => {
    const { stdout } = await several('top --accessible', 2, never)
    expect(stdout).toContain('eu:orders/1: inprocess, 0 of 2 events ended, waits on 01.00')
    expect(stdout).toContain('us: 1 stream, 1 open')
  })

  test('one that is away is told once, and listed when it answers', async () => {
    const { exit, stdout, stderr } = await several('top', 5, look => look < 4)
    expect(exit).toBe(143)
    expect(stderr.match(/-- us: no connection; trying again/g)).toHaveLength(1)
    expect(stdout.indexOf('orders/1')).toBeLessThan(stdout.indexOf('us, '))
    expect(stdout).toMatch(/^us, [^\n]+\nNAME [^\n]+\norders\/2/m)
  })

  test('one that is lost later is named, and so is its return', async () => {
    const { stderr } = await several('top', 5, look => look === 3 || look === 4)
    expect(stderr).toContain('-- us: connection lost: no connection; trying again')
    expect(stderr).toContain('-- us: connected again')
  })
})
