import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newUser, type Running, type User } from './program.ts'

let user: User
beforeEach(async () => {
  user = await newUser()
})
afterEach(() => user.leave())

const env = () => ({ LEASECTL_STORE: `sqlite:${join(user.home, 'a.db')}`, TMPDIR: user.home })

/** A worker for `A` whose command is this shell script. */
function work(owner: string, script: string, flags: readonly string[] = []): Running {
  writeFileSync(join(user.home, owner), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return user.start(
    ['work', '--name', 'A', '--owner', owner, '--max-idle', '200ms', ...flags, '--', `./${owner}`],
    env(),
  )
}

/** Running commands of a worker. */
const commandsOf = (owner: string) => user.processesWith(`/bin/sh ./${owner}`)

/** Resolves when all have ended: a stopped process exists until it is scheduled. */
const noCommandsOf = (owner: string) => expect.poll(() => commandsOf(owner), { timeout: 20_000 }).toEqual([])

const init = async (...names: readonly string[]) => {
  const script = names.map(name => `leasectl init ${name} -q --fork A,A`).join('\n')
  expect(await user.shell(script, env()).ended).toMatchObject({ code: 0, stderr: '' })
}

interface Seen {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly owner?: string
  readonly attempt?: number
}

async function events(stream: string): Promise<Seen[]> {
  const { stdout } = await user.run(['show', stream, '-o', 'json'], env())
  const { events } = JSON.parse(stdout) as { events: Seen[] }
  return events.filter(({ name }) => name === 'A')
}

/** Waits for a file of this name; or for any file, when a test has failed. */
const waiting = (file: string) => `echo up; while [ ! -e ${file} ] && [ -e a.db ]; do sleep 0.05; done`

describe('many workers', () => {
  test('end every event exactly once; the event of a killed one is taken over as the next attempt', async () => {
    await init('s/1', 's/2')
    const note = 'echo "$LEASECTL_STREAM $LEASECTL_EVENT $LEASECTL_ATTEMPT" >> ran'
    const doomed = work('doomed', `${note}; ${waiting('never')}`, ['--claim', '4s'])
    await doomed.until('stdout', /up/)
    doomed.process.kill('SIGKILL')
    // its command continues: the fence protects the event
    for (const pid of commandsOf('doomed')) process.kill(pid, 'SIGKILL')
    await doomed.ended
    const others = ['w1', 'w2', 'w3'].map(owner => work(owner, `${note}; sleep 0.05`, ['--claim', '30s']))
    const told = () => others.map(({ said }) => said.stderr).join('')
    await expect.poll(() => told().match(/^completed /gm)?.length, { timeout: 20_000 }).toBe(4)
    for (const { process } of others) process.kill('SIGTERM')
    for (const { ended } of others) expect(await ended).toMatchObject({ code: 0 })
    const attempts = readFileSync(join(user.home, 'ran'), 'utf8').trim().split('\n')
    expect(attempts).toHaveLength(5)
    expect(new Set(attempts).size).toBe(5)
    expect(attempts.filter(line => line.endsWith(' 2'))).toHaveLength(1)
    const all = (await Promise.all(['s/1', 's/2'].map(events))).flat()
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'completed'))
    expect(all.filter(({ attempt }) => attempt === 2)).toHaveLength(1)
  })
})

describe('signals', () => {
  test('the first drains: work in progress completes, nothing more is begun', async () => {
    await init('s')
    const run = work('w1', `trap 'echo got TERM' TERM; ${waiting('go')}`)
    await run.until('stdout', /up/)
    run.process.kill('SIGTERM')
    await user.shell('sleep 0.2; touch go').ended
    expect(await run.ended).toMatchObject({ code: 0, stdout: 'up\n', stderr: expect.stringContaining('1 done') })
    expect((await events('s')).map(({ status }) => status).sort()).toEqual(['completed', 'init'])
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('the second ends it at once with all its processes: %s', async signal => {
    await init('s')
    const run = work('w1', `(${waiting('never')}) & wait`)
    await run.until('stdout', /up/)
    run.process.kill(signal)
    await user.shell('sleep 0.2').ended
    // A child process looks like its shell until it runs.
    expect(commandsOf('w1').length).toBeGreaterThanOrEqual(2)
    run.process.kill(signal)
    // Two equal signals may arrive as one.
    const again = setInterval(() => run.process.kill(signal), 1_000)
    const ended = await run.ended.finally(() => clearInterval(again))
    expect(ended).toMatchObject({ code: 143 })
    await noCommandsOf('w1')
  })

  test('an idle worker ends at once', async () => {
    await init('s')
    const run = user.start(['work', '--name', 'B', '--max-idle', '10m', '-v', '--', 'true'], env())
    await run.until('stderr', /^store: .*\n/)
    run.process.kill('SIGTERM')
    expect(await run.ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^store: .*\nnothing to do\n$/),
    })
  })
})

test('a worker paused for longer than its claim reports nothing, and its command is stopped', async () => {
  await init('s')
  const paused = work('w1', `${waiting('go')}; echo late`, ['--claim', '4s', '--concurrency', '2'])
  await paused.until('stdout', /up\nup/)
  paused.process.kill('SIGSTOP')
  const other = work('w2', 'true', ['--claim', '5s'])
  await other.until('stderr', /completed.*completed/s)
  paused.process.kill('SIGCONT')
  await paused.until('stderr', /lost.*lost/s)
  await noCommandsOf('w1')
  for (const { process } of [paused, other]) process.kill('SIGTERM')
  expect(await paused.ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining('late') })
  await other.ended
  expect((await events('s')).map(({ status, owner, attempt }) => ({ status, owner, attempt }))).toEqual([
    { status: 'completed', owner: 'w2', attempt: 2 },
    { status: 'completed', owner: 'w2', attempt: 2 },
  ])
})
