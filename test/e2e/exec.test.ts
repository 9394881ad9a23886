import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newUser, type User } from './program.ts'

/** A shell script that prints `up` once it is ready, and then waits forever. */
const waiting = (before: string) => `${before}
echo up; while :; do sleep 0.02; done`

let user: User
let store = ''
beforeAll(async () => {
  user = await newUser()
  store = `sqlite:${join(user.home, 'a.db')}`
  const names = Array.from({ length: MOST }, () => 'A').join(',')
  expect(await user.run(['init', STREAM, '--fork', names, '-q'], env())).toMatchObject({ code: 0 })
})
afterAll(() => user.leave())

const env = () => ({ LEASECTL_STORE: store, TMPDIR: user.home })

const STREAM = 's'
const MOST = 24
let used = 0

/** An unused event. */
const newEvent = () => `${String(++used).padStart(2, '0')}.00`

const start = (event: string, script: string, flags: readonly string[] = []) =>
  user.start(['exec', STREAM, event, ...flags, '--', 'sh', '-c', script], env())

async function seen(event: string): Promise<Record<string, unknown> | undefined> {
  const { stdout } = await user.run(['show', STREAM, '-o', 'json'], env())
  const { events } = JSON.parse(stdout) as { events: Record<string, unknown>[] }
  return events.find(({ id }) => id === event)
}

/** A unique command line, so that its processes can be found. */
const sleepOf = (number: number) => `sleep 471${number}.${process.pid}`

/** Resolves when all of them have ended: a killed process exists until it is scheduled. */
const nothingOf = (text: string) => expect.poll(() => user.processesWith(text), { timeout: 20_000 }).toEqual([])

/** Output files of programs that have ended. */
const left = () => readdirSync(user.home).filter(name => name.startsWith('leasectl-'))

describe('the result of the command determines the result of the event', () => {
  test('0 completes it; stdout, stdin and the environment belong to the command', async () => {
    const event = newEvent()
    const run = start(event, 'cat; env | grep LEASECTL_ | sort', ['--owner', 'w1'])
    run.process.stdin?.end('told\n')
    const { code, stdout, stderr } = await run.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'told',
      'LEASECTL_ATTEMPT=1',
      expect.stringMatching(/^LEASECTL_ATTEMPT_KEY=[\w.%-]+_1$/),
      expect.stringMatching(/^LEASECTL_BORN=[0-9a-f-]{36}$/),
      `LEASECTL_EVENT=${event}`,
      'LEASECTL_FENCE=2',
      expect.stringMatching(/^LEASECTL_OUTPUT=\//),
      'LEASECTL_OWNER=w1',
      expect.stringMatching(/^LEASECTL_RESULT=\//),
      expect.stringMatching(/^LEASECTL_RESULT_TYPE=\//),
      `LEASECTL_STORE=${store}`,
      `LEASECTL_STREAM=${STREAM}`,
      '',
    ])
    expect(await seen(event)).toMatchObject({ status: 'completed', fence: 2 })
    expect(left()).toEqual([])
  })

  test('a folder left by a killed exec is removed by the next one', async () => {
    const killed = start(newEvent(), 'echo begun; cat')
    await killed.until('stdout', /begun/)
    killed.process.kill('SIGKILL')
    await killed.ended
    expect(left()).toHaveLength(1)
    expect(await start(newEvent(), 'true').ended).toMatchObject({ code: 0 })
    expect(left()).toEqual([])
  })

  test('any other code fails it, with the last lines of stderr as message, and the event can be retried by name', async () => {
    const event = newEvent()
    const { code, stderr } = await start(event, 'echo begun >&2; printf "\\033[31mno stock\\n" > /dev/stderr; exit 3')
      .ended
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'begun\n\u001b[31mno stock\n' })
    expect(await seen(event)).toMatchObject({ status: 'aborted', msg: 'begun\nno stock' })
  })

  test('a signal is 128 plus its number', async () => {
    const event = newEvent()
    expect(await start(event, 'kill -9 $$').ended).toMatchObject({ code: 137, stderr: '' })
    expect(await seen(event)).toMatchObject({ status: 'aborted', msg: 'killed by SIGKILL' })
  })

  test('--stdin json passes the event, also under the name of standard input', async () => {
    const event = newEvent()
    const { stdout } = await start(event, 'cat /dev/stdin', ['--stdin', 'json']).ended
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'leasectl/v1', stream: STREAM, event: { id: event } })
  })

  test('the command gets the input of its event as a file, and leaves the result in another; both are private', async () => {
    const event = newEvent()
    const none =
      'test -z "$LEASECTL_INPUT" && test ! -e "$LEASECTL_RESULT" && stat -c %a "$(dirname "$LEASECTL_RESULT")"'
    const { stdout } = await start(event, `${none}; echo '[1]' > "$LEASECTL_RESULT"; echo "$LEASECTL_RESULT"`).ended
    const [mode, file = ''] = stdout.split('\n')
    expect([mode, existsSync(file)]).toEqual(['700', false])
    expect(await seen(event)).toMatchObject({
      status: 'completed',
      result: { type: 'application/json', text: '[1]\n' },
    })
    const next = newEvent()
    const long = `head -c 17000000 /dev/zero > "$LEASECTL_RESULT"`
    expect(await start(next, long).ended).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/more than 16 MiB/),
    })
    expect(await seen(next)).toMatchObject({ status: 'aborted', msg: expect.stringMatching(/more than 16 MiB/) })
  })

  test('the command may end its event itself, without flags: then only its exit code counts', async () => {
    const event = newEvent()
    const script = 'leasectl event complete "$LEASECTL_STREAM" "$LEASECTL_EVENT" -q -m mine; exit 5'
    expect(await start(event, script).ended).toMatchObject({ code: 5, stdout: '', stderr: '' })
    expect(await seen(event)).toMatchObject({ status: 'completed', msg: 'mine' })
  })

  test('a command that has ended its event is not stopped for the missing claim', async () => {
    const event = newEvent()
    const file = join(user.home, 'seen')
    // long enough for the end to be noticed
    const script = `leasectl event advance "$LEASECTL_STREAM" "$LEASECTL_EVENT" --next N -q; sleep 0.8; echo on > ${file}`
    expect(await start(event, script, ['--claim', '3s']).ended).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(file, 'utf8')).toBe('on\n')
  })
})

describe('an error of leasectl is 125', () => {
  test('if another holds the claim: the command is not run', async () => {
    const event = newEvent()
    await user.run(['event', 'start', STREAM, event, '--owner', 'w1', '-q'], env())
    const { code, stdout, stderr } = await start(event, 'echo ran', ['--owner', 'w2', '-o', 'json']).ended
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'claimed', exit: 125, tableExit: 6, retryable: true } })
    expect(left()).toEqual([])
  })

  test('if a cancel stops the command and all its processes: nothing is reported', async () => {
    const event = newEvent()
    const asleep = sleepOf(1)
    const run = start(event, waiting(`${asleep} &`), ['--claim', '4s'])
    await run.until('stdout', /up/)
    await user.run(['cancel', STREAM, '-e', event], env())
    const { code, stderr } = await run.ended
    expect(code).toBe(125)
    expect(stderr).toMatch(/\[already-final\]\n {2}command {2}killed by SIGTERM\n {2}code {5}5 /)
    await nothingOf(asleep)
    expect(await seen(event)).toMatchObject({ status: 'canceled' })
  })

  test('if the stream is removed: the command is stopped, and killed if necessary', async () => {
    await user.run(['init', 'gone', '-q', '--hold'], env())
    const flags = ['--claim', '2s', '--grace', '0s', '--take-over']
    const run = user.start(['exec', 'gone', '00', ...flags, '--', 'sh', '-c', waiting('trap "" TERM')], env())
    await run.until('stdout', /up/)
    // A heartbeat between its inspection and its removal prevents the removal of an unseen version.
    await vi.waitFor(async () => {
      expect(await user.run(['rm', 'gone', '--force', '--yes'], env())).toMatchObject({ code: 0 })
    }, 20_000)
    expect(await run.ended).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/stream-not-found|claim-expired/),
    })
  })
})

describe('signals', () => {
  test('the first: the command gets it, and the event is released', async () => {
    const event = newEvent()
    const run = start(event, waiting('trap "echo got INT; exit 4" INT'))
    await run.until('stdout', /up/)
    run.process.kill('SIGINT')
    expect(await run.ended).toMatchObject({ code: 130, stdout: 'up\ngot INT\n' })
    expect(await seen(event)).toMatchObject({ status: 'init', attempt: 1 })
    expect(left()).toEqual([])
  })

  test('a command that exits with 0 anyway has done its work', async () => {
    const event = newEvent()
    const run = start(event, waiting('trap "exit 0" TERM'))
    await run.until('stdout', /up/)
    run.process.kill('SIGQUIT')
    expect(await run.ended).toMatchObject({ code: 0 })
    expect(await seen(event)).toMatchObject({ status: 'completed' })
  })

  test('a command that ignores it is killed after the grace period, with all its processes', async () => {
    const event = newEvent()
    const asleep = sleepOf(2)
    const run = start(event, waiting(`trap "" TERM; ${asleep} &`), ['--grace', '100ms'])
    await run.until('stdout', /up/)
    run.process.kill('SIGTERM')
    expect(await run.ended).toMatchObject({ code: 143 })
    await nothingOf(asleep)
  })

  test('the second ends everything at once and leaves no file', async () => {
    const event = newEvent()
    const asleep = sleepOf(3)
    const run = start(event, waiting(`trap "echo again" TERM; ${asleep} &`))
    await run.until('stdout', /up/)
    run.process.kill('SIGHUP')
    await run.until('stdout', /again/)
    run.process.kill('SIGHUP')
    expect(await run.ended).toMatchObject({ code: 143 })
    await nothingOf(asleep)
    expect(left()).toEqual([])
  })
})

test('a process that the command leaves behind continues, and is not waited for', async () => {
  const event = newEvent()
  const asleep = sleepOf(4)
  const { code } = await start(event, `${asleep} >/dev/null & exit 0`).ended
  expect(code).toBe(0)
  const [pid = 0] = user.processesWith(asleep)
  expect(process.kill(pid, 'SIGKILL')).toBe(true)
})

test('endless output needs little memory, and its end is the message', async () => {
  const event = newEvent()
  const script = join(user.home, 'loud')
  writeFileSync(script, '#!/bin/sh\nseq 3000000 >&2\nseq 1000000\nexit 7\n', { mode: 0o755 })
  const command = `exec '${process.execPath}' --max-old-space-size=32 '${user.bin}' exec ${STREAM} ${event} -- ./loud`
  const { code } = await user.shell(`${command} 2>/dev/null >/dev/null`, env()).ended
  expect(code).toBe(7)
  expect(await seen(event)).toMatchObject({ msg: expect.stringMatching(/^2999991\n.*\n3000000$/s) })
})
