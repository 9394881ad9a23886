import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, receiver } from '../unit/watchdog/hooks/support.ts'
import { newUser, type User } from './program.ts'

let user: User
let host: Receiver
beforeAll(async () => {
  user = await newUser()
  host = await receiver()
})
afterAll(async () => {
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
