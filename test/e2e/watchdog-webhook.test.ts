import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Receiver, receiver } from '../unit/watchdog/hooks/support.ts'
import { newUser, type User } from './program.ts'

let user: User
let host: Receiver
beforeEach(async () => {
  user = await newUser()
  host = await receiver()
})
afterEach(async () => {
  user.leave()
  await host.close()
})

/** A pass with a webhook to this machine. */
function pass(networks: string) {
  const webhooks = `{allow: 127.0.0.1, ${networks}}`
  const file = join(user.home, 'w.yaml')
  writeFileSync(file, `on-failed: {webhook: "${host.url}", secret-env: HOOK_SECRET}\nwebhooks: ${webhooks}\n`)
  const env = { HOOK_SECRET: 'a secret of sixteen bytes or more' }
  return user.run(['watchdog', '--once', '--config', file, '--store', `sqlite:${join(user.home, 'x.db')}`], env)
}

test('the ends of streams that undo what they did call a program and a webhook, each of its own', async () => {
  const folder = join(user.home, 'undo')
  mkdirSync(folder)
  const address = `sqlite:${join(folder, 'u.db')}`
  const leasectl = async (...line: string[]) => {
    const { code, stderr } = await user.run([...line, '--store', address])
    expect([code, stderr], line.join(' ')).toEqual([0, expect.anything()])
  }
  const [plan, hook, told] = ['plan.yaml', 'hook', 'told'].map(name => join(folder, name)) as [string, string, string]
  writeFileSync(plan, 'root: R\non-failure: compensate\nsteps: [{ name: A, undo: UndoA }, { name: B }]\n')
  writeFileSync(hook, `#!/bin/sh\necho "$LEASECTL_HOOK $LEASECTL_OUTCOME $LEASECTL_STREAM" >> '${told}'\n`, {
    mode: 0o755,
  })
  const file = join(folder, 'w.yaml')
  const hooks = `on-compensation-failed: [{webhook: "${host.url}"}, {command: ["${hook}"]}]\n`
  writeFileSync(file, `${hooks}webhooks: {allow: 127.0.0.1, networks: 127.0.0.1}\n`)
  const once = () => leasectl('watchdog', '--once', '--config', file, '--on-compensated', hook)
  for (const [stream, end] of [
    ['undone', 'complete'],
    ['stuck', 'fail'],
  ] as const) {
    await leasectl('init', stream, '--from', plan)
    await leasectl('event', 'complete', stream, '01.00')
    await leasectl('event', 'fail', stream, '01.01', '-m', 'boom')
    await leasectl('event', end, stream, '02.01.00')
  }
  await once()
  const lines = ['compensated compensated undone', 'compensation-failed compensation-failed stuck']
  expect(readFileSync(told, 'utf8').trim().split('\n').sort()).toEqual(lines)
  const posted = host.received.map(({ body }) => JSON.parse(body))
  expect(posted).toMatchObject([{ hook: 'compensation-failed', stream: 'stuck', outcome: 'compensation-failed' }])
  // Nothing is delivered twice.
  await once()
  expect(readFileSync(told, 'utf8').trim().split('\n')).toHaveLength(2)
  expect(host.received).toHaveLength(1)
})

test('a webhook to an internal address is refused at the start; if that is allowed it is called, signed', async () => {
  const store = ['--store', `sqlite:${join(user.home, 'x.db')}`]
  await user.run(['init', 's', ...store])
  await user.run(['abort', 's', '-m', 'why', ...store])
  const refused = await pass('networks: []')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('webhooks: {networks: [127.0.0.1]}') })
  expect(host.received).toEqual([])

  const opened = await pass('networks: 127.0.0.1')
  expect([opened.code, opened.stderr]).toEqual([0, opened.stderr])
  expect(host.received).toHaveLength(1)
  expect(host.received[0]?.headers['webhook-signature']).toMatch(/^v1,/)
  expect(JSON.parse(host.received[0]?.body ?? '')).toMatchObject({ hook: 'failed', stream: 's' })
})
