import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createInbox, type Inbox } from '../../src/inbox/inbox.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { idsIn } from '../support/serving.ts'
import { newUser, type Running, type User } from './program.ts'

let user: User
let store: StreamStore
let inbox: Inbox
let address: string
beforeEach(async () => {
  user = await newUser()
  address = `sqlite:${join(user.home, 'a.db')}`
  store = await openStore(address, {})
  const outcome = await createInbox(store, 'orders', 4, { by: 'test' })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  inbox = outcome.inbox
})
afterEach(async () => {
  await store.close()
  user.leave()
})

const TOKEN = 'canary-token-0123456789abcdef'

async function serving(flags: readonly string[] = [], env?: Record<string, string>) {
  const running = user.start(['inbox', 'serve', 'orders', '--store', address, '--listen', ':0', ...flags], env)
  await running.until('stderr', /"kind":"listen"/)
  const port = Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(running.said.stderr)?.[1])
  return { running, port }
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** The status of the answer; `undefined` if there was none. */
function post(port: number, body: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise(resolve => {
    const path = '/inboxes/orders'
    const options = { port, path, method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } }
    const asked = request(options, response => {
      response.resume().on('end', () => resolve(response.complete ? response.statusCode : undefined))
      response.on('error', () => resolve(undefined))
    })
    asked.on('error', () => resolve(undefined)).end(body)
  })
}

/** Posts as fast as it goes until the process ends; ids by their last answer. */
async function load(port: number, { ended }: Running, onAnswers: (count: number) => void) {
  const answers = new Map<string, number | undefined>()
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  let next = 0
  const lane = async () => {
    while (!isOver) {
      const id = `r${next++}`
      answers.set(id, await post(port, JSON.stringify({ id, x: 'y'.repeat(500) })))
      onAnswers(answers.size)
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  return answers
}

const idsWith = (answers: ReadonlyMap<string, number | undefined>, status: number) =>
  [...answers].filter(([, found]) => found === status).map(([id]) => id)

describe('inbox serve', () => {
  test('that is killed under load has put everything that it answered with 202', async () => {
    const { running, port } = await serving()
    const answers = await load(port, running, count => {
      if (count === 1_500) running.process.kill('SIGKILL')
    })
    const accepted = idsWith(answers, 202)
    expect(accepted.length).toBeGreaterThan(1_000)
    const there = new Set(await idsIn(store, inbox))
    expect(accepted.filter(id => !there.has(id))).toEqual([])
    expect((await user.run(['inbox', 'show', 'orders', '--store', address])).code).toBe(0)
  })

  test('that is terminated under load answers what it took, and ends with 0', async () => {
    const { running, port } = await serving()
    const answers = await load(port, running, count => {
      if (count === 1_000) running.process.kill('SIGTERM')
    })
    expect(await running.ended).toMatchObject({ code: 0 })
    // What was not taken was refused, or met a closed connection; nothing was put without an answer.
    expect(await idsIn(store, inbox)).toEqual(idsWith(answers, 202).sort())
    expect(running.said.stderr).toMatch(/"kind":"stop"/)
  })

  test('keeps bodies and tokens out of its log', async () => {
    writeFileSync(join(user.home, 'token'), `${TOKEN}\n`, { mode: 0o600 })
    const { running, port } = await serving(['--token-file', 'token', '-v'])
    const headers = { authorization: `Bearer ${TOKEN}` }
    expect(await post(port, '{"id":"canary-id","x":"canary-body"}', headers)).toBe(202)
    expect(await post(port, 'canary-nonsense', headers)).toBe(400)
    expect(await post(port, '{}', { authorization: 'Bearer canary-wrong-0123456789' })).toBe(401)
    running.process.kill('SIGTERM')
    const { code, stdout, stderr } = await running.ended
    expect(code).toBe(0)
    expect(`${stdout}${stderr}`).not.toContain('canary')
    expect(await idsIn(store, inbox)).toEqual(['canary-id'])
  })

  test('takes the token from the environment too', async () => {
    const { port } = await serving([], { LEASECTL_INBOX_TOKEN: TOKEN })
    expect(await post(port, '{"id":"a"}')).toBe(401)
    expect(await post(port, '{"id":"a"}', { authorization: `Bearer ${TOKEN}` })).toBe(202)
  })

  test.each([
    [['--listen', '0.0.0.0:0'], {}, /clients need a token/],
    [['--token-file', 'none'], {}, /--token-file none cannot be read \(ENOENT\)/],
    [[], { LEASECTL_INBOX_TOKEN: '' }, /LEASECTL_INBOX_TOKEN has no token/],
    [[], { LEASECTL_INBOX_TOKEN: 'short' }, /5 characters/],
  ])('with %j and %j is refused before it listens', async (flags, env, why) => {
    const { code, stderr } = await user.run(['inbox', 'serve', 'orders', '--store', address, ...flags], env)
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  })

  test('of an inbox that is not there, or on a port in use, ends with the code of the fault', async () => {
    expect(await user.run(['inbox', 'serve', 'none', '--store', address, '--listen', ':0'])).toMatchObject({ code: 3 })
    const { port } = await serving()
    const second = await user.run(['inbox', 'serve', 'orders', '--store', address, '--listen', `:${port}`])
    expect(second).toMatchObject({ code: 9, stderr: expect.stringMatching(/port is in use/) })
  })
})
