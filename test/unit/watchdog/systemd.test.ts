import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { notifyProgram, openSystemd, type Systemd, type SystemdOptions } from '../../../src/watchdog/systemd.ts'
import { failedPass, OPEN_BREAKER, sweepReport } from './reports.ts'

const PID = 4711
const UNIT = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: '/usr/bin', AZURE_STORAGE_KEY: 'canary' }

interface Played {
  readonly systemd: Systemd | undefined
  /** Each message on its own, in order. */
  readonly sent: string[][]
  readonly timers: { readonly everyMs: number; readonly fire: () => void }[]
  readonly faults: string[]
}

/** @param answer the result of sending */
function play(
  env: SystemdOptions['env'],
  { isAlive = (): boolean => true, answer = async (): Promise<string | undefined> => undefined } = {},
): Played {
  const played: Omit<Played, 'systemd'> = { sent: [], timers: [], faults: [] }
  const systemd = openSystemd({
    env,
    pid: PID,
    isAlive,
    failed: message => played.faults.push(message),
    notify: async assignments => {
      played.sent.push([...assignments])
      return answer()
    },
    every(everyMs, fire) {
      const timer = { everyMs, fire }
      played.timers.push(timer)
      return () => void played.timers.splice(played.timers.indexOf(timer), 1)
    },
  })
  return { systemd, ...played }
}

/** All continuations of promises without a timer. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

test('without a systemd unit no message is sent', () => {
  expect(play({ PATH: '/usr/bin', WATCHDOG_USEC: '60000000' }).systemd).toBeUndefined()
})

describe('readiness', () => {
  test('is sent once, after the first complete pass', async () => {
    const { systemd, sent } = play(UNIT)
    await systemd?.failed?.(failedPass())
    await systemd?.passed?.(sweepReport({ watched: 3 }))
    await systemd?.passed?.(sweepReport({ watched: 4 }))
    await settled()
    expect(sent).toEqual([['STATUS=passes fail: store-unreachable'], ['READY=1', 'STATUS=watching 3 streams']])
  })

  test('is sent although the circuit breaker opens in the first pass', async () => {
    const { systemd, sent } = play(UNIT)
    await systemd?.passed?.(sweepReport({ breaker: OPEN_BREAKER }))
    await settled()
    expect(sent).toEqual([['READY=1', 'STATUS=the circuit breaker is open: no event is ended']])
  })

  test('has a status that follows outage and circuit breaker, with a message per change and none per pass', async () => {
    const { systemd, sent } = play(UNIT)
    for (const breaker of [sweepReport().breaker, OPEN_BREAKER, OPEN_BREAKER]) {
      await systemd?.passed?.(sweepReport({ breaker }))
    }
    for (const code of ['store-unreachable', 'store-unreachable']) await systemd?.failed?.(failedPass({ code }))
    await systemd?.passed?.(sweepReport())
    await settled()
    expect(sent.slice(1)).toEqual([
      ['STATUS=the circuit breaker is open: no event is ended'],
      ['STATUS=passes fail: store-unreachable'],
      ['STATUS=watching 2 streams'],
    ])
  })

  test('has a status for a store that refuses changes, also in passes without one, until a change succeeds', async () => {
    const { systemd, sent } = play(UNIT)
    for (const outcomes of [{ failed: 2 }, {}, { failed: 1, unknown: 1 }, { ended: 1 }]) {
      await systemd?.passed?.(sweepReport({ outcomes, overdue: 1 }))
    }
    await settled()
    expect(sent).toEqual([
      ['READY=1', 'STATUS=no event can be ended: the store rejects all decisions'],
      ['STATUS=watching 2 streams'],
    ])
  })

  test('is revoked before the process exits', async () => {
    const { systemd, sent } = play(UNIT)
    await systemd?.stopping()
    expect(sent).toEqual([['STOPPING=1', 'STATUS=stopping']])
  })
})

describe("systemd's watchdog", () => {
  test.each([
    ['twice per timeout', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(PID) }, [30_000]],
    ['also without a named process', { WATCHDOG_USEC: '3000000' }, [1_500]],
    ['not if another process is named, npx for example', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' }, []],
    ['not if it is off', {}, []],
    ['not if the timeout is invalid', { WATCHDOG_USEC: 'soon' }, []],
    ['with at most the longest possible timer', { WATCHDOG_USEC: '99999999999999' }, [2 ** 31 - 1]],
  ])('is notified %s', (_, env, everyMs) => {
    expect(play({ ...UNIT, ...env }).timers.map(timer => timer.everyMs)).toEqual(everyMs)
  })

  test('is notified only while the loop is alive, and not after the end', async () => {
    let isAlive = true
    const { systemd, sent, timers } = play({ ...UNIT, WATCHDOG_USEC: '2000000' }, { isAlive: () => isAlive })
    timers[0]?.fire()
    await settled()
    isAlive = false
    timers[0]?.fire()
    await settled()
    expect(sent).toEqual([['WATCHDOG=1']])
    systemd?.close()
    expect(timers).toEqual([])
  })

  test('gets no second message while one is in flight', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { sent, timers } = play({ ...UNIT, WATCHDOG_USEC: '2000000' }, { answer: () => gate.promise })
    for (let times = 0; times < 5; times++) timers[0]?.fire()
    await settled()
    expect(sent).toHaveLength(1)
    gate.resolve(undefined)
    await settled()
    timers[0]?.fire()
    await settled()
    expect(sent).toHaveLength(2)
  })
})

test('a message that cannot be sent is reported once and changes nothing', async () => {
  const { systemd, faults, sent } = play(UNIT, { answer: async () => 'systemd-notify exited with 1' })
  await systemd?.passed?.(sweepReport())
  await systemd?.failed?.(failedPass())
  await systemd?.stopping()
  expect(sent).toHaveLength(3)
  expect(faults).toEqual(['systemd-notify exited with 1'])
})

describe('the program systemd-notify', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'leasectl-notify-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function fake(script: string): Promise<{ PATH: string; NOTIFY_SOCKET: string; AZURE_STORAGE_KEY: string }> {
    const path = join(folder, 'systemd-notify')
    await writeFile(path, `#!/bin/sh\n${script}\n`)
    await chmod(path, 0o755)
    return { ...UNIT, PATH: `${folder}:/usr/bin:/bin` }
  }

  test('gets the assignments as arguments, without a shell, and only the necessary environment', async () => {
    const env = await fake(`printf '%s\\n' "$@" > ${folder}/arguments; env > ${folder}/environment`)
    expect(await notifyProgram(['READY=1', 'STATUS=$(id); "x" & y'], env)).toBeUndefined()
    expect(await readFile(join(folder, 'arguments'), 'utf8')).toBe('READY=1\nSTATUS=$(id); "x" & y\n')
    const environment = await readFile(join(folder, 'environment'), 'utf8')
    expect(environment).toContain(`NOTIFY_SOCKET=${UNIT.NOTIFY_SOCKET}\n`)
    expect(environment).not.toContain('canary')
  })

  test('that fails is reported with its exit code', async () => {
    expect(await notifyProgram(['READY=1'], await fake('exit 3'))).toBe('systemd-notify exited with 3')
  })

  test('that is missing is reported', async () => {
    expect(await notifyProgram(['READY=1'], { ...UNIT, PATH: folder })).toMatch(/cannot be started: .*ENOENT/)
  })

  test('that cannot be started is reported too', async () => {
    expect(await notifyProgram(['STATUS=a\0b'], UNIT)).toMatch(/cannot be started/)
  })
})
