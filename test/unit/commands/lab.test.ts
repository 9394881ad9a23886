import { describe, expect, test } from 'vitest'
import { contenders } from '../../../src/commands/lab/setup.ts'
import { registerLease, registerStream } from '../../../src/commands/lab.ts'
import { ContainerMissing } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { holdingTogether, inProcess, telling } from '../lab/workers.ts'
import { storeWith } from './store-with.ts'
import { cli, newWorld, optionsFrom, type Setting, type World } from './support.ts'

const STORE = ['--store', 'azurite:tests']

function lab(world: World, line: string, setting: Setting = {}) {
  return cli(world, ['lab', ...line.split(' '), ...STORE], { startLineProcess: inProcess, ...setting })
}

async function namesIn(store: StreamStore): Promise<string[]> {
  const names: string[] = []
  for await (const page of store.list({})) names.push(...page.map(({ name }) => name))
  return names
}

describe('the arguments of', () => {
  test('lab lease', async () => {
    expect(await optionsFrom(registerLease, ['lease', '--procs', '3', '--duration', '2s', '--hold', '0s'])).toEqual({
      procs: 3,
      duration: 2_000,
      hold: 0,
    })
    expect(await optionsFrom(registerLease, ['lease', '--pace', 'reference', '--create-container'])).toEqual({
      pace: 'reference',
      createContainer: true,
    })
  })

  test('lab stream', async () => {
    const words = [
      'stream',
      '--events',
      '12',
      '--at-once',
      '--write',
      'optimistic',
      '--keep',
      '--claim',
      '3s',
      '--kill',
    ]
    expect(await optionsFrom(registerStream, words)).toEqual({
      events: 12,
      atOnce: true,
      write: 'optimistic',
      keep: true,
      claim: 3_000,
      kill: true,
    })
  })

  test.each([
    ['stream --events 5001', '--events 5001 is too many'],
    ['stream --procs 65', '--procs 65 is too many'],
    ['lease --hold 11s', '--hold 11s is too long'],
    ['lease --duration 2h', '--duration 2h is too long'],
    ['stream --kill --at-once', '--kill and --at-once do not go together'],
    ['stream --kill --pace reference', '--kill and --pace reference do not go together'],
    ['stream -c prod', 'lab takes neither -c nor --container'],
    ['lease --container box', 'lab takes neither -c nor --container'],
  ])('%s is refused, and nothing is created', async (line, message) => {
    const world = newWorld()
    const ran = await lab(world, line)
    expect(ran).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(message) })
    expect(await namesIn(world.store)).toEqual([])
  })

  test('a store that other processes cannot reach is refused', async () => {
    const ran = await cli(newWorld(), ['lab', 'stream'], { startLineProcess: inProcess })
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('other processes cannot reach memory:') })
  })
})

describe('lab stream', () => {
  test('prints a line for each process, the waits as bars, and the verdict; the stream is removed afterwards', async () => {
    const world = newWorld()
    const { exit, stdout, stderr } = await lab(world, 'stream --procs 2 --events 5')
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: 'lab/stream-20260301-120000-41 on memory:: 2 processes work on 5 events, one event at a time each\n',
    })
    expect(stdout).toMatch(
      /^PROCESS +EVENTS +CHANGES +RACES LOST +WAITED p50 +p95 +max +ENDED\nworker-1 .*\nworker-2 .*\n\n/,
    )
    expect(stdout).toMatch(/^ *≤ \S+ +\d+ {2}[█▏▎▍▌▋▊▉]+$/m)
    expect(stdout).toMatch(/changes a second; fairness [01]\.\d\d \(Jain's index of events per process\); longest wait/)
    expect(stdout).toMatch(
      /\n✓ per the journal, each event was started once per attempt and completed once, by its owner\n$/,
    )
    expect(await namesIn(world.store)).toEqual([])
  })

  test.each(['', ' --at-once', ' --at-once --write optimistic'])(
    'completes every event of the stream exactly once:%s',
    async how => {
      const world = newWorld()
      const ran = await lab(world, `stream --procs 3 --events 10${how} -o json`)
      expect(JSON.parse(ran.stdout)).toMatchObject({
        exactlyOnce: true,
        faults: [],
        version: 21,
        attempts: 10,
        killed: 0,
      })
      const { processes } = JSON.parse(ran.stdout) as { processes: { events: number }[] }
      expect(processes.reduce((sum, { events }) => sum + events, 0)).toBe(10)
      if (how !== '') expect(processes.map(({ events }) => events)).toEqual([4, 3, 3])
    },
  )

  test('keeps and names the stream with --keep', async () => {
    const world = newWorld()
    const ran = await lab(world, 'stream --procs 1 --events 2 --keep')
    expect(ran.stderr).toContain('lab/stream-20260301-120000-41 is kept\n')
    expect(await namesIn(world.store)).toEqual(['lab/stream-20260301-120000-41'])
  })

  test('ends with 1 and names the events if some were not completed', async () => {
    const { exit, stdout, stderr } = await lab(newWorld(), 'stream --procs 1 --events 12', {
      startLineProcess: () => telling([]),
    })
    expect(exit).toBe(1)
    expect(stdout).toContain('✗ 01.00 is init\n')
    expect(stdout).toMatch(/\n✗ and \d+ more\n$/)
    expect(stderr).toContain('[proof-failed]')
  })

  test('ends with the error of a worker that fails, and removes the stream', async () => {
    const world = newWorld()
    const failed = { code: 9, stderr: 'error: the store is away' }
    const ran = await lab(world, 'stream', { startLineProcess: () => telling([], failed) })
    expect(ran).toMatchObject({ exit: 1, stdout: '', stderr: expect.stringContaining('the store is away') })
    expect(await namesIn(world.store)).toEqual([])
  })
})

describe('lab lease', () => {
  test('prints turns, attempts and fairness, and that no two processes had the lease at once', async () => {
    const world = newWorld()
    const { exit, stdout } = await lab(world, 'lease --procs 2 --duration 30ms --hold 1ms')
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^PROCESS +TURNS +ATTEMPTS +HELD +WAITED p50 +p95 +max\nworker-1 .*\nworker-2 .*\n\n/)
    expect(stdout).toMatch(/\d+ turns?, \d+\.\d attempts each; fairness/)
    expect(stdout).toMatch(/\n✓ the lease was never held by two processes at the same time\n$/)
    expect(await namesIn(world.store)).toEqual([])
  })

  test('ends with 1 and names the processes if two had it at once', async () => {
    const { exit, stdout, stderr } = await lab(newWorld(), 'lease --procs 2', { startLineProcess: holdingTogether })
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining('[proof-failed]') })
    expect(stdout).toContain('✗ worker-1 and worker-2 held the lease at the same time for 50.0 ms\n')
  })
})

describe('a missing container', () => {
  function withoutContainer(world: World, address: string): StreamStore {
    let exists = false
    return storeWith(world.store, {
      address,
      create: async (...args) => {
        if (!exists) throw new ContainerMissing('there is no container box')
        return world.store.create(...args)
      },
      createContainer: async () => {
        exists = true
      },
    })
  }

  test.each([
    ['azure:acct/box', '', 3],
    ['azure:acct/box', ' --create-container', 0],
    ['azurite://127.0.0.1:10000/box', '', 0],
  ])('of %s, flags "%s": exit %i', async (address, flags, exit) => {
    const world = newWorld()
    const store = withoutContainer(world, address)
    const ran = await lab(world, `stream --procs 1 --events 1${flags}`, { store })
    expect(ran.exit, ran.stderr).toBe(exit)
  })
})

test.each([
  [1, '1 process contends'],
  [2, '2 processes contend'],
])('%i process: %s', (procs, text) => {
  expect(contenders(procs, 'contend')).toBe(text)
})
