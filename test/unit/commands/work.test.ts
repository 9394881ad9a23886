import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStream } from '../../../src/ops/read-stream.ts'
import { shardOf } from '../../../src/ops/shards/quota.ts'
import { NotPermitted } from '../../../src/store/errors.ts'
import { intercept, run } from '../ops/support.ts'
import { cli, newWorld, type World } from './support.ts'

const PATH = { env: { PATH: '/usr/bin:/bin' } }

async function world(forks = 'A,A'): Promise<World> {
  const made = newWorld()
  await cli(made, ['init', 's', '--fork', forks])
  return made
}

async function statuses(made: World): Promise<(string | undefined)[]> {
  const view = await readStream(made.store, 's')
  return (view?.stream.events ?? []).map(({ status }) => status)
}

test('until it is empty: runs the command for each event, and reports each outcome', async () => {
  const made = await world()
  const ran = await cli(made, ['work', '--name', 'A', '--until-empty', '--', 'true'], PATH)
  expect(ran).toMatchObject({ exit: 0, stdout: '' })
  expect(ran.stderr).toMatch(/^started {4}s 0[12]\.00 A$/m)
  expect(ran.stderr).toMatch(/^completed {2}s 01\.00 A in 0\.0s$/m)
  expect(ran.stderr).toContain('worked on 2 events: 2 done\n')
  expect(await statuses(made)).toEqual(['completed', 'completed', 'completed'])
})

test.each(['text', 'ndjson'])(
  'as %s says on stderr that a watchdog may end an event whose timeout has passed',
  async format => {
    const made = await world('A')
    await cli(made, ['event', 'set', 's', '01.00', '--timeout', '0s'])
    const { exit, stderr } = await cli(made, ['work', '--name', 'A', '--once', '-o', format, '--', 'true'], PATH)
    expect(exit).toBe(0)
    expect(stderr).toMatch(/^warning {4}s 01\.00 A: its timeout is over: a watchdog ends it while it is worked on$/m)
  },
)

test('a failed event is 7 at the end, with its message in the line', async () => {
  const made = await world()
  const ran = await cli(
    made,
    ['work', '--name', 'A', '--until-empty', '--', 'sh', '-c', 'echo no card >&2; exit 3'],
    PATH,
  )
  expect(ran.exit).toBe(7)
  expect(ran.stderr).toMatch(/^failed {5}s 01\.00 A in 0\.0s: no card$/m)
})

test('the topic selects the events it works on, not their successors', async () => {
  const made = newWorld()
  await cli(made, ['init', 's'])
  await cli(made, ['event', 'advance', 's', '00', '--fork', 'A', '--topic', 'eu'])
  const other = await cli(made, ['work', '--name', 'A', '--topic', 'us', '--until-empty', '--', 'true'], PATH)
  expect(other.stderr).toContain('nothing to do')
  await cli(made, ['work', '--name', 'A', '--topic', 'eu', '--next', 'N', '--until-empty', '--', 'true'], PATH)
  expect((await readStream(made.store, 's'))?.stream.find('01.01')).toMatchObject({ name: 'N', topic: '' })
})

test('--once returns the exit code of the command, and 0 if there is no work', async () => {
  const made = await world('A')
  expect((await cli(made, ['work', '--name', 'A', '--once', '--', 'sh', '-c', 'exit 41'], PATH)).exit).toBe(41)
  const idle = await cli(made, ['work', '--name', 'A', '--once', '--', 'true'], PATH)
  expect(idle).toMatchObject({ exit: 0, stdout: '', stderr: 'nothing to do\n' })
})

test('an event with no attempt left is told with its name and the attempts since its retry; --once exits 125', async () => {
  const made = await world('A')
  const die = async () => {
    await run(made.store, 's', { op: 'start', event: '01.00', owner: 'dead', claimMs: 1_000 })
    made.nowMs += 2_000
  }
  await die()
  await run(made.store, 's', { op: 'fail', event: '01.00' })
  await run(made.store, 's', { op: 'retry', event: '01.00' })
  await die()
  const work = ['work', '--name', 'A', '--max-attempts', '1', '--once', '--', 'true']
  const ran = await cli(made, work, PATH)
  expect(ran.exit).toBe(125)
  const why = "01.00 has failed: given up after 1 attempt; the last was dead's"
  expect(ran.stderr).toContain(`given-up   s 01.00 A: ${why}\n`)
  expect(ran.stderr).toMatch(/^error: s: 01\.00 has failed.*\[no-attempts\]/m)
  expect(ran.stderr).not.toContain('inprocess')
})

test('without write permission: 7 at the end, 125 with --once', async () => {
  const made = await world()
  const store = intercept(made.store, () => Promise.reject(new NotPermitted('no')))
  const words = ['work', '--name', 'A', '--', 'true']
  const ran = await cli(made, words.toSpliced(3, 0, '--until-empty'), { ...PATH, store })
  expect(ran.exit).toBe(7)
  expect(ran.stderr).toMatch(/\[not-permitted\](.|\n)*^2 faults$/m)
  const { exit, stderr } = await cli(made, words.toSpliced(3, 0, '--once'), { ...PATH, store })
  expect({ exit, told: stderr.match(/\[[a-z-]+\]/g) }).toEqual({
    exit: 125,
    told: ['[not-permitted]', '[not-permitted]'],
  })
})

test('a stream with work that is leased until released is reported as left: 7', async () => {
  const made = await world()
  await cli(made, ['lease', 'acquire', 's', '--duration', 'infinite'])
  const ran = await cli(made, ['work', '--name', 'A', '--until-empty', '--', 'true'], PATH)
  expect(ran).toMatchObject({ exit: 7, stderr: expect.stringContaining('1 stream skipped, leased until released') })
})

test('the reason is reported for an event released because its command cannot be started: 7', async () => {
  const made = await world('A')
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-work-'))
  const program = join(folder, 'gone')
  try {
    // a missing interpreter is only detected at the start
    writeFileSync(program, '#!/no/such/interpreter\n', { mode: 0o755 })
    const ran = await cli(made, ['work', '--name', 'A', '--until-empty', '--', program], PATH)
    expect(ran.exit).toBe(7)
    expect(ran.stderr).toMatch(/^released {3}s 01\.00 A in 0\.0s: it cannot be started \(ENOENT\)$/m)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a signal drains it: 0', async () => {
  const made = await world()
  const { signal } = { signal: AbortSignal.abort('SIGTERM') }
  expect((await cli(made, ['work', '--name', 'A', '--', 'true'], { ...PATH, signal })).exit).toBe(0)
  expect(await statuses(made)).toEqual(['inprocess', 'init', 'init'])
})

test('a command that cannot be run is detected before anything is claimed', async () => {
  const made = await world()
  expect((await cli(made, ['work', '--name', 'A', '--', 'no-such-command'], PATH)).exit).toBe(127)
  expect((await cli(made, ['work', '--name', 'A', '--', '/etc'], PATH)).exit).toBe(126)
  expect(await statuses(made)).toEqual(['inprocess', 'init', 'init'])
})

test.each([
  [['--', 'true'], '--name is missing'],
  [['--name', 'A'], 'a command to run is missing'],
  [['--name', 'A', 'true'], 'must follow --'],
  [['--name', 'A', '--once', '--until-empty', '--', 'true'], '--once and --until-empty'],
  [['--name', 'A', '--once', '--concurrency', '2', '--', 'true'], 'no --concurrency'],
  [['--name', 'A', '--join', 'J', '--', 'true'], '--join needs --fork'],
])('usage: %j', async (words, told) => {
  const ran = await cli(await world(), ['work', ...words], PATH)
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain(told)
})

test('texts of streams cannot control the terminal', async () => {
  const made = newWorld()
  await cli(made, ['init', 's\u202e1', '--fork', 'A\u009b31m'])
  for (const format of ['text', 'ndjson']) {
    const words = [
      'work',
      '--name',
      'A\u009b31m',
      '--once',
      '-o',
      format,
      '--',
      'sh',
      '-c',
      "printf 'x\\302\\233y' >/dev/stderr; exit 1",
    ]
    const { stdout, stderr } = await cli(made, words, PATH)
    const own = stderr.split('\n').filter(line => !line.startsWith('x'))
    expect(`${stdout}${own.join('')}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    await cli(made, ['retry', 's\u202e1', '--all'])
  }
})

test('a partition is worked on by its own worker, and all partitions together do everything', async () => {
  const made = newWorld()
  const names = Array.from({ length: 24 }, (_, at) => `orders/${at}`)
  for (const name of names) await cli(made, ['init', name, '--fork', 'A'])
  const words = ['work', '--name', 'A', '--until-empty', '-o', 'ndjson']
  const worked: string[][] = []
  for (const partition of ['0/3', '1/3', '2/3']) {
    const { stdout } = await cli(made, [...words, '--partition', partition, '--', 'true'], PATH)
    worked.push(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).stream),
    )
  }
  expect(worked.flat().sort()).toEqual(names.toSorted())
  expect(worked.map(part => part.every(name => shardOf(name, 3) === worked.indexOf(part)))).toEqual([true, true, true])
  expect(worked.every(part => part.length > 0)).toBe(true)
})

test.each([
  [['--partition', '1/2', '--partition-from-hostname'], '--partition names the partition'],
  [['--partition-count', '2'], '--partition-count goes with --partition-from-hostname'],
  [['--partition-from-hostname'], '--partition-from-hostname needs --partition-count'],
  [['--partition-from-hostname', '--partition-count', '2'], 'the host name "testhost" has no number'],
  [['--partition', '2/2'], '--partition: there is no partition 2/2'],
])('%j is a usage error', async (flags, message) => {
  const ran = await cli(newWorld(), ['work', '--name', 'A', ...flags, '--', 'true'], PATH)
  expect(ran.exit).toBe(2)
  expect(ran.stderr).toContain(message)
})
