import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Effect, type Ending, faultsOf } from '../../examples/drone/proof.ts'
import { newUser, type Running, type User } from '../e2e/program.ts'
import { sharedAzurite } from '../support/azurite.ts'
import { bringExamples } from './examples-at-home.ts'

describe('the drone example', () => {
  let user: User
  let running: Running | undefined

  beforeEach(async () => {
    user = await newUser()
    bringExamples(user)
  })

  afterEach(async () => {
    // Its processes must not outlive it.
    running?.process.kill('SIGTERM')
    await running?.ended
    user.leave()
  })

  const drone = (flags: string) => {
    running = user.shell(`exec node examples/drone/main.ts ${flags}`)
    return running.ended
  }

  test('proves that nothing is left half done while services, workers, supervisor and watchdog are killed', async () => {
    const { code, stdout } = await drone('--deliveries 8 --faults 30% --seed 2 --kills')
    expect(stdout).toMatch(/^proven: every delivery has all five effects/m)
    expect(stdout).toMatch(/^completed {4}[1-9]/m)
    expect(stdout).toMatch(/^compensated {2}[1-9]/m)
    expect(stdout).toMatch(/^effects {6}\d+ done, [1-9]\d* undone/m)
    expect(stdout).toMatch(/^kills {8}[1-9]/m)
    expect(code).toBe(0)
  }, 240_000)

  test('proves the same on blobs', async () => {
    const { port } = await sharedAzurite()
    const address = `azurite://127.0.0.1:${port}/drone-${randomUUID().slice(0, 8)}`
    const { code, stdout } = await drone(`--deliveries 3 --faults 30% --seed 2 --store ${address}`)
    expect(stdout).toMatch(/^proven: /m)
    expect(code).toBe(0)
  }, 240_000)

  test('finds an undo step that does nothing', async () => {
    const { code, stdout } = await drone('--deliveries 4 --faults 30% --seed 2 --mistake skip-undo')
    expect(stdout).toMatch(/^✗ deliveries\/2\/\d: to undo were: .*account; undone were: none$/m)
    expect(stdout).toMatch(/^NOT PROVEN: /m)
    expect(code).toBe(1)
  }, 240_000)

  test('finds a worker that asks with a new key in each attempt', async () => {
    const { code, stdout } = await drone('--deliveries 4 --faults 30% --seed 2 --mistake attempt-key')
    expect(stdout).toMatch(/^✗ deliveries\/2\/\d: \w+ was done \d times$/m)
    expect(code).toBe(1)
  }, 240_000)

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'ends every process that it started when it gets %s',
    async signal => {
      const ended = drone('--deliveries 200 --seed 2')
      const pid = running?.process.pid ?? 0
      await expect
        .poll(() => childrenOf(pid).some(({ command }) => command.includes(' wait ')), { timeout: 60_000 })
        .toBe(true)
      const children = childrenOf(pid)
      running?.process.kill(signal)
      expect((await ended).code).toBe(130)
      expect(children.filter(child => isAlive(child.pid))).toEqual([])
    },
    240_000,
  )

  test.each([
    ['--deliveries 0', '--deliveries is a whole number from 1 to 100000'],
    ['--faults many', '--faults is a share, as 5%'],
    ['--mistake none', '--mistake is skip-undo or attempt-key'],
  ])('refuses %s', async (flags, message) => {
    expect(await drone(flags)).toMatchObject({ code: 2, stderr: `${message}\n` })
  })
})

function childrenOf(pid: number) {
  const lines = execFileSync('ps', ['-eo', 'ppid=,pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines
    .map(line => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .filter(([, parent]) => Number(parent) === pid)
    .map(([, , child, command = '']) => ({ pid: Number(child), command }))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the proof', () => {
  const completed: Ending = { delivery: 'd', status: 'completed', outcome: '' }
  const compensated: Ending = { delivery: 'd', status: 'aborted', outcome: 'compensated' }
  const effects = (...texts: readonly string[]): Effect[] =>
    texts.map((text, at) => {
      const undone = text.startsWith('-')
      return { service: text.replace('-', ''), action: undone ? 'undo' : 'do', key: text, at: BigInt(at) }
    })
  const all = ['account', 'package', 'carrier', 'drone', 'delivery']

  test.each([
    ['a completed delivery with all five effects', completed, all],
    ['one that had no effect', compensated, []],
    ['one whose effects are undone in reverse order', compensated, ['account', 'package', '-package', '-account']],
  ])('accepts %s', (_, ending, done) => {
    expect(faultsOf(ending, effects(...done))).toEqual([])
  })

  test.each([
    ['a missing effect', completed, all.slice(1), 'completed, but done were: package, carrier, drone, delivery'],
    ['an undo of a completed delivery', completed, [...all, '-drone'], 'completed, but undone were: drone'],
    ['a drone that flies twice', completed, [...all, 'drone'], 'drone was done 2 times'],
    ['an effect that stays', compensated, ['account'], 'to undo were: account; undone were: none'],
    [
      'an effect that is undone twice',
      compensated,
      ['account', '-account', '-account'],
      'to undo were: account; undone were: account, account',
    ],
    [
      'the order in which it was done',
      compensated,
      ['account', 'package', '-account', '-package'],
      'to undo were: package, account; undone were: account, package',
    ],
    [
      'an effect after the first undo',
      compensated,
      ['account', '-account', 'package', '-package'],
      'something was done after the first undo',
    ],
    ['a stream that has not ended', { ...completed, status: 'inprocess' }, [], 'its stream is inprocess'],
    [
      'an undo that failed',
      { ...compensated, outcome: 'compensation-failed' },
      [],
      'its stream is aborted compensation-failed',
    ],
  ])('finds %s', (_, ending, done, fault) => {
    expect(faultsOf(ending, effects(...done))).toContain(fault)
  })
})
