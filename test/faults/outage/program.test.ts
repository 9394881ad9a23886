import { afterAll, beforeAll, expect, test } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { newUser, type User } from '../../e2e/program.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'

/** tail -f of the built program, through a network that fails and heals. */

let user: User
let store: StreamStore & { container: string }
let proxy: FaultProxy

beforeAll(async () => {
  user = await newUser()
  const { port } = await sharedAzurite()
  store = await openAzuriteStore(port)
  proxy = await startFaultProxy({ target: { port } })
})
afterAll(async () => {
  await proxy.stop()
  await store.close()
  user.leave()
})

async function change(stream: string, ...tags: readonly string[]): Promise<void> {
  for (const tag of tags) {
    const set = { op: 'set', event: '00', attributes: { tag } } as const
    expect(await transact(store, stream, set, { commandId: tag, by: 'test' })).toMatchObject({ kind: 'done' })
  }
}

const commandIds = (stdout: string): string[] =>
  stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).commandId)

const PAGES = [200, 302, 403, 404].map((status): Fault => ({ kind: 'forged-before', status }))

test.each<Fault>([{ kind: 'lose-request' }, { kind: 'error-before' }, { kind: 'truncate' }, ...PAGES])(
  'tail -f continues after an outage ($kind $status), misses nothing and says so',
  async fault => {
    const stream = `${fault.kind}-${fault.status}`
    const init = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: stream } as const
    await transact(store, stream, init, { commandId: 'init', by: 'test' })
    const address = `azurite://127.0.0.1:${proxy.port}/${store.container}`
    const tail = user.start(['tail', '-f', stream, '--interval', '20ms', '-o', 'ndjson', '--store', address])
    await change(stream, 'before')
    await tail.until('stdout', /"before"/)
    proxy.reset()
    proxy.add(fault)
    await tail.until('stderr', /connection lost: 127\.0\.0\.1:\d+ does not answer: .*; trying again\n/)
    expect(proxy.injected.length).toBeGreaterThanOrEqual(3)
    await change(stream, 'a', 'b', 'c')
    expect(tail.said.stdout).not.toContain('"a"')
    proxy.heal()
    await tail.until('stdout', /"c"/)
    await change(stream, 'after')
    await tail.until('stdout', /"after"/)
    tail.process.kill('SIGINT')
    const { code, stdout, stderr } = await tail.ended
    expect(code).toBe(130)
    expect(commandIds(stdout)).toEqual(['init', 'before', 'a', 'b', 'c', 'after'])
    expect(stderr).toMatch(
      /^-- connection lost: .*; trying again\n-- connected again( after \S+)?; nothing was missed\n$/,
    )
  },
)

test('wait continues when a captive portal has answered in place of the service for a while', async () => {
  const init = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: 'awaited' } as const
  await transact(store, 'awaited', init, { commandId: 'init', by: 'test' })
  const address = `azurite://127.0.0.1:${proxy.port}/${store.container}`
  proxy.reset()
  const wait = user.start(['wait', 'awaited', '--interval', '20ms', '--store', address])
  await expect
    .poll(() => proxy.count('head') + proxy.count('get') + proxy.count('list'), { timeout: 60_000 })
    .toBeGreaterThan(2)
  proxy.reset()
  for (const status of [200, 302, 403, 404, 511]) proxy.add({ kind: 'forged-before', status, times: 1 })
  await expect.poll(() => proxy.injected.length, { timeout: 60_000 }).toBe(5)
  await transact(store, 'awaited', { op: 'complete', event: '00' }, { commandId: 'end', by: 'test' })
  expect(await wait.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('awaited') })
})

test('tail -f reports when the stream is removed and when it begins again', async () => {
  const init = { op: 'init', root: { name: 'Start' }, forks: [], hold: false } as const
  await transact(store, 'twice', { ...init, born: 'first' }, { commandId: 'one', by: 'test' })
  const tail = user.start(['tail', '-f', 'twice', '--interval', '20ms', '-o', 'ndjson', '--store', store.address])
  await tail.until('stdout', /"one"/)
  expect(await store.remove('twice', {})).toEqual({ kind: 'removed' })
  await tail.until('stderr', /twice was removed; waiting for it to return/)
  await transact(store, 'twice', { ...init, born: 'second' }, { commandId: 'two', by: 'test' })
  await tail.until('stdout', /"two"/)
  tail.process.kill('SIGTERM')
  expect((await tail.ended).code).toBe(143)
})
