import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newUser, type Running, type User } from './program.ts'

let user: User
beforeEach(async () => {
  user = await newUser()
})
afterEach(() => user.leave())

const env = () => ({ LEASECTL_STORE: `sqlite:${join(user.home, 'a.db')}`, TMPDIR: user.home })

function subscribe(script: string, flags: readonly string[] = []): Running {
  writeFileSync(join(user.home, 'handle'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const words = ['subscribe', '--as', 'b', '--from', 'start', '--interval', '100ms', '--tries', '1', ...flags]
  return user.start([...words, '--', join(user.home, 'handle')], env())
}

async function init(stream: string): Promise<void> {
  expect(await user.run(['init', stream, '-q'], env())).toMatchObject({ code: 0 })
}

async function parked(): Promise<string> {
  return (await user.run(['subscription', 'parked', 'b'], env())).stdout
}

test.each([
  [['--as', 'a/b', '--', 'cat'], 2, /"a\/b" cannot be the name of a subscription/],
  [['--as', 'b', '--', './nothing'], 127, /no command \.\/nothing/],
  [['--as', 'b'], 2, /a command to run is missing/],
])('subscribe %j ends with %d before a subscription is made', async (words, code, error) => {
  await init('orders/1')
  const ended = await user.run(['subscribe', ...words], env())
  expect(ended.code).toBe(code)
  expect(ended.stderr).toMatch(error)
  expect((await user.run(['subscription', 'ls', '-o', 'name'], env())).stdout).toBe('')
})

test('a handler that was stopped after its time has failed, whatever its exit code', async () => {
  await init('orders/1')
  const running = subscribe('trap "exit 0" TERM\nsleep 60 &\nwait $!', ['--timeout', '500ms'])
  await running.until('stderr', /^parked .*it ran longer than/m)
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})

test('a time limit of months, and a start before 1970, are taken', async () => {
  await init('orders/1')
  const running = subscribe('true', ['--timeout', '60d', '--from', '1960-01-01'])
  await running.until('stderr', /^handled +orders\/1/m)
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
  const reset = user.run(['subscription', 'reset', 'b', '--from', '1960-01-01', '--yes'], env())
  expect(await reset).toMatchObject({ code: 0, stdout: 'everything is handed over again\n' })
})

test('a handler that hangs and ignores SIGTERM is killed after its time, and its stream parked', async () => {
  await init('orders/1')
  const running = subscribe('trap "" TERM\nwhile :; do sleep 1; done', ['--timeout', '500ms', '--grace', '500ms'])
  await running.until('stderr', /^parked .*it ran longer than/m)
  expect(await parked()).toMatch(/orders\/1 +parked .*it ran longer than/)
  await expect
    .poll(() => user.processesWith(join(user.home, 'handle')), { timeout: 30_000 })
    .toEqual([running.process.pid])
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})

test.each([
  ['no stream', '{"do":"signal","name":"go"}', /line 1: stream is missing/],
  ['two streams', '{"do":"signal","name":"go","stream":["a","b"]}', /line 1: .*stream/],
])('a command to %s fails the delivery, which is parked with the reason', async (_, command, why) => {
  await init('orders/1')
  const running = subscribe(`echo '${command}' >> "$LEASECTL_COMMANDS"`)
  await running.until('stderr', /^parked /m)
  expect(await parked()).toMatch(why)
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})

test('a reset while a handler runs hands over everything once more, and the delivery of before does not count', async () => {
  await init('orders/1')
  const running = subscribe(
    'echo "$LEASECTL_STREAM" >> ran\n[ -e go ] || { echo up; while [ -e handle ] && [ ! -e go ]; do sleep 0.1; done; }',
  )
  await running.until('stdout', /up/)
  const reset = user.run(['subscription', 'reset', 'b', '--from', 'start', '--yes'], env())
  expect((await reset).code).toBe(0)
  writeFileSync(join(user.home, 'go'), '')
  const lines = () => readFileSync(join(user.home, 'ran'), 'utf8').trim().split('\n')
  await expect.poll(lines, { timeout: 30_000 }).toEqual(['orders/1', 'orders/1'])
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})
