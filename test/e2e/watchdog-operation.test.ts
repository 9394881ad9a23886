import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamStore } from '../../src/store/store.ts'
import { metric, pagesOf } from './watchdog/http.ts'
import { fatesOf } from './watchdog/judge.ts'
import { EVENT } from './watchdog/lives.ts'
import { plant } from './watchdog/planting.ts'
import { eventually } from './watchdog/poll.ts'
import { newWorld, type World } from './watchdog/world.ts'

/** The environment of a watchdog of the built program: probes, hooks, systemd, cron. */

const INTERVAL = ['--interval', '500ms'] as const

/** The time limit of a test on a busy machine. */
const LIMIT = { timeout: 90_000 }

let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

/** A program of the user's. @returns its path */
function program(name: string, script: string): string {
  const path = join(world.user.home, name)
  writeFileSync(path, `#!/bin/sh\n${script}`, { mode: 0o755 })
  return path
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8') || undefined
  } catch {
    return undefined
  }
}

async function plantDue(store: StreamStore, streams: readonly string[], isAlone = false): Promise<void> {
  await plant(
    store,
    streams.map(stream => ({ stream, timeoutMs: 1, isAlone })),
  )
}

describe.concurrent('a watchdog', LIMIT, () => {
  test('answers probes and metrics until it has ended', async () => {
    const store = await world.sqlite()
    await plantDue(store, ['orders/1', 'orders/2'])
    const watchdog = world.watchdog(store.address, [...INTERVAL, '--listen', '127.0.0.1:0'])
    const page = await pagesOf(watchdog)
    await eventually('it is ready', async () => (await page('/readyz')).status === 200 || undefined)
    expect(await page('/livez')).toMatchObject({ status: 200, text: 'alive\n' })
    expect(await page('/readyz')).toMatchObject({ status: 200, text: 'ready\n' })
    expect((await page('/')).status).toBe(404)
    const metrics = await eventually('both ends are counted', async () => {
      const answer = await page('/metrics')
      return metric(answer.text, 'expired_events_total') === 2 ? answer : undefined
    })
    expect(metrics.type).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(metric(metrics.text, 'decisions_total{outcome="ended"}')).toBe(2)
    expect(metric(metrics.text, 'expiry_latency_seconds_count')).toBe(2)
    expect(metric(metrics.text, 'open_events')).toBe(4)
    expect((await watchdog.stop()).code).toBe(0)
    await expect(page('/livez')).rejects.toThrow()
  })

  test('passes its changes to hooks: the transaction on standard input, ids in the environment', async () => {
    const store = await world.sqlite()
    await plantDue(store, ['orders/1'], true)
    const hook = program(
      'hook',
      'cat > "$1.$LEASECTL_HOOK"; env > "$1.$LEASECTL_HOOK.env"; mv "$1.$LEASECTL_HOOK" "$1.$LEASECTL_HOOK.json"',
    )
    const told = join(world.user.home, 'told')
    const argv = JSON.stringify([hook, told])
    const flags = ['--on-expired', argv, '--on-done', argv, '--on-failed', argv]
    const watchdog = world.watchdog(store.address, [...INTERVAL, ...flags], { LEASECTL_TEST_SECRET: 'canary' })
    const { commandId } = await watchdog.until('ended')
    for (const kind of ['expired', 'failed', 'done']) {
      const text = await eventually(`the hook ${kind}`, () => read(`${told}.${kind}.json`))
      expect(JSON.parse(text)).toMatchObject({
        apiVersion: 'leasectl/v1',
        hook: kind,
        stream: 'orders/1',
        store: store.address,
        transaction: {
          op: 'abort',
          commandId,
          changes: expect.arrayContaining([expect.objectContaining({ id: EVENT, to: 'aborted' })]),
        },
      })
      const environment = read(`${told}.${kind}.env`) ?? ''
      expect(environment).toContain('LEASECTL_STREAM=orders/1\n')
      expect(environment).toContain(`LEASECTL_COMMAND_ID=${commandId}\n`)
      expect(environment).not.toContain('canary')
    }
    expect((await watchdog.stop()).code).toBe(0)
  })

  test('continues beside a hook that hangs, one that floods and one that fails', async () => {
    const store = await world.sqlite()
    const asleep = `sleep 3601.${process.pid}`
    const hanging = program('hanging', asleep)
    const flooding = program('flooding', 'exec yes "$0"')
    const failing = program('failing', 'cat; echo "cannot page" >&2; exit 3')
    const good = program('good', `echo "$LEASECTL_STREAM" >> "${world.user.home}/good.log"`)
    const hooks = [hanging, flooding, failing, good].flatMap(path => ['--on-failed', path])
    const watchdog = world.watchdog(store.address, [...INTERVAL, ...hooks])
    const streams = Array.from({ length: 6 }, (_, at) => `orders/${at}`)
    for (const stream of streams) {
      await plantDue(store, [stream])
      await watchdog.until('ended', line => line.stream === stream)
    }
    const log = () => new Set(read(join(world.user.home, 'good.log'))?.trim().split('\n'))
    await eventually('the good hook was told of all', () => log().size === streams.length || undefined)
    const { msg } = await watchdog.until('hook', ({ target }) => target === failing)
    expect(msg).toContain('[exit-3]')
    const { code } = await watchdog.stop()
    expect(code).toBe(0)
    for (const text of [hanging, asleep, flooding]) expect(world.user.processesWith(text)).toEqual([])
  })

  test('notifies systemd when it is ready and when it stops', async () => {
    const store = await world.sqlite()
    const home = world.user.home
    program('bin/systemd-notify', `echo "$NOTIFY_SOCKET $@" >> "${home}/notified"`)
    const watchdog = world.watchdog(store.address, INTERVAL, { NOTIFY_SOCKET: '/run/test/notify' })
    const notified = () => read(join(home, 'notified')) ?? ''
    await eventually('it is ready', () => notified().includes('READY=1') || undefined)
    await eventually('that was said', () => world.user.processesWith('systemd-notify').length === 0 || undefined)
    expect((await watchdog.stop()).code).toBe(0)
    await eventually('it stops', () => notified().includes('STOPPING=1') || undefined)
    expect(notified()).toMatch(/^\/run\/test\/notify READY=1 STATUS=watching 0 streams\n(?:.*\n)*.*STOPPING=1/)
  })
})

describe.concurrent('from cron on two machines at the same moment', LIMIT, () => {
  test.each(['sqlite', 'azurite'] as const)('each event is ended once (%s)', async kind => {
    const store = kind === 'sqlite' ? await world.sqlite() : (await world.proxied()).store
    const streams = Array.from({ length: 20 }, (_, at) => `orders/${at}`)
    await plantDue(store, streams)
    const once = ['watchdog', '--once', '--max-share', '100%', '-o', 'json', '--store', store.address]
    const runs = await Promise.all([world.user.run(once), world.user.run(once)])
    // 7: a stream that the other had leased for too long is left to the next pass.
    for (const { code } of runs) expect([0, 7]).toContain(code)
    const passes = runs.map(({ stdout }) => JSON.parse(stdout).pass)
    expect(passes.reduce((sum, { endedEvents }) => sum + endedEvents, 0)).toBe(streams.length)
    for (const [stream, { ends, byWatchdogs }] of await fatesOf(store, streams)) {
      expect({ stream, ends: ends.length, byWatchdogs }).toEqual({ stream, ends: 1, byWatchdogs: 1 })
    }
  })
})
