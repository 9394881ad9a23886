import { expect, test } from 'vitest'
import { openOutput } from '../../../../src/cli/output.ts'
import { watchOnce } from '../../../../src/commands/watchdog/once.ts'
import { readSettings } from '../../../../src/commands/watchdog/settings.ts'
import { hookCommand } from '../../../../src/commands/watchdog/values.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { machineTiming, type Timing } from '../../../../src/util/clock.ts'
import { sleepUntilAborted } from '../../../../src/util/concurrency.ts'
import { init, run } from '../../ops/support.ts'
import { fakeRuntime, newWorld, type World } from '../support.ts'

/** A run whose pauses take a hundredth of their time. */
async function once(world: World, program: string) {
  const { runtime, written } = fakeRuntime(world, ['watchdog', '--once'])
  const timing: Timing = {
    ...machineTiming,
    random: () => 0.5,
    async pause(ms, signal) {
      await sleepUntilAborted(ms / 100, signal)
      // The engine looks for what is due ten times a second.
      if (ms === 100) world.nowMs += ms
    },
  }
  const settings = { ...(await readSettings({ once: true })), onFailed: hookCommand('--on-failed')(program) }
  const limits = { intervalMs: 10_000, onDue: 'abort-event', maxPerPass: 1_000, maxShare: 1, concurrency: 4 } as const
  const watchdog = { ...limits, by: 'watchdog@test', observers: [], timing }
  const problem = await watchOnce(world.store, {}, watchdog, settings, await openOutput({}, runtime), runtime)
  return { problem, stderr: written.stderr }
}

test('deliveries that hooks do not accept within a minute are left to the next run, reported, and end with 7', async () => {
  const world = newWorld()
  await run(world.store, 's', { ...init(), forks: [{ name: 'A', timeout: '00:01:00' }] } as Operation)
  world.nowMs += 120_000
  const first = await once(world, '/bin/false')
  expect(first.problem).toMatchObject({ exit: 7, message: 'hooks: 1 delivery left for the next run' })
  expect(first.stderr.match(/s: on-failed \/bin\/false: failed, will be retried/g)).toHaveLength(2)
  expect(first.stderr).toContain('s: on-failed /bin/false: left to the next watchdog, attempt 3')
  world.nowMs += 3_600_000
  expect((await once(world, '/bin/false')).stderr).toContain('left to the next watchdog')
})

test('accepted deliveries are not repeated', async () => {
  const world = newWorld()
  await run(world.store, 's', { ...init(), forks: [{ name: 'A', timeout: '00:01:00' }] } as Operation)
  world.nowMs += 120_000
  const { problem, stderr } = await once(world, '/bin/true')
  expect(problem).toBeUndefined()
  expect(stderr).not.toContain('on-failed')
})
